package main

import (
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

type completionCommand struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Help is what --help adds.
func (completionCommand) Help() string {
	return `The script knows commands, flags and their values; it is derived from the grammar, so it fits this version exactly.

Examples:

    source <(vpnctl completion bash)
    vpnctl completion zsh > "${fpath[1]}/_vpnctl"
    vpnctl completion fish > ~/.config/fish/completions/vpnctl.fish`
}

func (c completionCommand) Run(k *kong.Kong, s *streams) error {
	script := map[string]func(completable) string{"bash": bashScript, "zsh": zshScript, "fish": fishScript}[c.Shell]
	_, err := io.WriteString(s.stdout, script(completables(k.Model.Node, "", nil)))
	return err
}

// completable is a command and what may follow it.
type completable struct {
	path  string // "plan", "simulator serve"; empty: the program itself
	help  string
	flags []completableFlag
	below []completable // commands that may follow
	words []string      // values of its argument, where they are few
	files bool          // its arguments are files
}

// filesArgument is how arguments are named that are files.
const filesArgument = "paths"

// completableFlag is a flag and what may follow it.
type completableFlag struct {
	name   string // without dashes
	short  string // one letter, or empty
	help   string
	value  bool     // a value has to follow
	many   bool     // it may be given again
	values []string // the values that are known
	paths  string   // what the value is a path of: "file", "dir" or empty. Of a flag without value: what may follow an equals sign
}

// completables is the grammar below a node. Flags of the commands above count
// everywhere, flags and files of a command that need not be named also before it.
func completables(node *kong.Node, path string, above []*kong.Flag) completable {
	flags := slices.Concat(above, node.Flags)
	c := completable{path: path, help: node.Help}
	for _, p := range node.Positional {
		c.words = append(c.words, enumOf(p)...)
		c.files = c.files || p.Name == filesArgument
	}
	for _, child := range node.Children {
		if !child.Hidden {
			c.below = append(c.below, completables(child, strings.TrimSpace(path+" "+child.Name), flags))
		}
	}
	if node.DefaultCmd != nil {
		flags = slices.Concat(flags, node.DefaultCmd.Flags)
		c.files = slices.ContainsFunc(node.DefaultCmd.Positional, func(p *kong.Positional) bool { return p.Name == filesArgument })
	}
	c.flags = completableFlags(flags)
	return c
}

func completableFlags(flags []*kong.Flag) []completableFlag {
	var all []completableFlag
	for _, f := range flags {
		if f.Hidden {
			continue
		}
		c := completableFlag{name: f.Name, help: f.Help, value: !f.IsBool() && !f.IsCounter(), many: f.IsCounter() || f.IsCumulative(), values: enumOf(f.Value)}
		if f.Short != 0 {
			c.short = string(f.Short)
		}
		if f.PlaceHolder == "FILE" || f.PlaceHolder == "DIR" {
			c.paths = strings.ToLower(f.PlaceHolder)
		}
		all = append(all, c)
	}
	return all
}

func enumOf(v *kong.Value) []string {
	var values []string
	for value := range v.EnumMap() {
		if value != "" {
			values = append(values, value)
		}
	}
	slices.Sort(values)
	return values
}

// all are a command and those below it.
func (c completable) all() []completable {
	list := []completable{c}
	for _, b := range c.below {
		list = append(list, b.all()...)
	}
	return list
}

// name is the last word of a command's path.
func (c completable) name() string { return c.path[strings.LastIndex(c.path, " ")+1:] }

// next are the words that may follow, files and flags apart.
func (c completable) next() []string {
	words := slices.Clone(c.words)
	for _, b := range c.below {
		words = append(words, b.name())
	}
	return words
}

// dashed are the flag's names as they are typed.
func (f completableFlag) dashed() []string {
	if f.short == "" {
		return []string{"--" + f.name}
	}
	return []string{"--" + f.name, "-" + f.short}
}

// takers are the names of all flags that a value has to follow, sorted.
func (c completable) takers() []string {
	var names []string
	for _, command := range c.all() {
		for _, f := range command.flags {
			if f.value {
				names = append(names, f.dashed()...)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// quote is a string for a shell, in single quotes.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
