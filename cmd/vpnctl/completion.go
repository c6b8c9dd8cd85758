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
	script := map[string]func([]completable) string{"bash": bashScript, "zsh": zshScript, "fish": fishScript}[c.Shell]
	_, err := io.WriteString(s.stdout, script(completables(k.Model)))
	return err
}

// completable is a command and what may follow it.
type completable struct {
	name  string // "plan"; empty: the program itself
	help  string
	flags []completableFlag
	words []string // values of its argument, where they are few
}

type completableFlag struct {
	name   string // without dashes
	short  string // one letter, or empty
	help   string
	value  bool     // a value has to follow
	values []string // the values that are known
}

// completables lists the program itself and then its commands.
func completables(app *kong.Application) []completable {
	all := []completable{{flags: completableFlags(app.Flags)}}
	for _, node := range app.Children {
		if node.Hidden {
			continue
		}
		c := completable{name: node.Name, help: node.Help, flags: completableFlags(slices.Concat(app.Flags, node.Flags))}
		for _, p := range node.Positional {
			c.words = append(c.words, enumOf(p)...)
		}
		for _, below := range node.Children {
			c.words = append(c.words, below.Name)
			c.flags = append(c.flags, completableFlags(below.Flags)...)
		}
		all = append(all, c)
	}
	return all
}

func completableFlags(flags []*kong.Flag) []completableFlag {
	var all []completableFlag
	for _, f := range flags {
		if f.Hidden {
			continue
		}
		c := completableFlag{name: f.Name, help: f.Help, value: !f.IsBool() && !f.IsCounter(), values: enumOf(f.Value)}
		if f.Short != 0 {
			c.short = string(f.Short)
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

// words are everything that may follow a command, files apart.
func (c completable) all() []string {
	words := slices.Clone(c.words)
	for _, f := range c.flags {
		words = append(words, "--"+f.name)
		if f.short != "" {
			words = append(words, "-"+f.short)
		}
	}
	return words
}

// quote is a string for a shell, in single quotes.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
