package main

import (
	"fmt"
	"strings"
)

// zshScript completes with descriptions, as zsh's own functions do. Every command is
// a function.
func zshScript(program completable) string {
	var b strings.Builder
	b.WriteString("#compdef vpnctl\n")
	for _, c := range program.all() {
		b.WriteString(zshFunction(c))
	}
	b.WriteString(`if [ "$funcstack[1]" = "_vpnctl" ]; then _vpnctl "$@"; else compdef _vpnctl vpnctl; fi` + "\n")
	return b.String()
}

func zshName(c completable) string {
	return "_" + strings.ReplaceAll(strings.TrimSpace("vpnctl "+c.path), " ", "_")
}

func zshFunction(c completable) string {
	arguments := zshFlags(c)
	if len(c.below) > 0 {
		return zshCommands(c, arguments)
	}
	switch {
	case len(c.words) > 0:
		arguments = append(arguments, quote("1: :("+strings.Join(c.words, " ")+")"))
	case c.files:
		arguments = append(arguments, quote("*:file:_files"))
	}
	return fmt.Sprintf("%s() {\n  _arguments %s\n}\n", zshName(c), strings.Join(arguments, " \\\n    "))
}

// zshCommands is the function of a command that others follow.
func zshCommands(c completable, flags []string) string {
	var commands, cases []string
	for _, b := range c.below {
		commands = append(commands, "    "+quote(b.name()+":"+b.help))
		cases = append(cases, fmt.Sprintf("    %s) %s ;;", b.name(), zshName(b)))
	}
	files := ""
	if c.files { // of a command that need not be named
		files = "; _files"
		cases = append(cases, "    *) _files ;;")
	}
	return fmt.Sprintf(`%s() {
  local context state state_descr line
  typeset -A opt_args
  local -a commands
  commands=(
%s
  )
  _arguments -C \
    %s \
    '1: :->command' '*:: :->rest'
  case $state in
  command) _describe command commands%s ;;
  rest)
    case $line[1] in
%s
    esac ;;
  esac
}
`, zshName(c), strings.Join(commands, "\n"), strings.Join(flags, " \\\n    "), files, strings.Join(cases, "\n"))
}

func zshFlags(c completable) []string {
	var all []string
	for _, f := range c.flags {
		about := "[" + zshText.Replace(f.help) + "]"
		sign, value := "", ""
		switch {
		case len(f.values) > 0:
			value = ":value:(" + strings.Join(f.values, " ") + ")"
		case f.paths == "file":
			value = ":file:_files"
		case f.paths == "dir":
			value = ":folder:_files -/"
		case f.value:
			value = ":value: "
		}
		switch {
		case f.value:
			sign = "="
		case value != "":
			sign, value = "=-", ":"+value
		}
		again := ""
		if f.many {
			again = "*"
		}
		all = append(all, quote(again+"--"+f.name+sign+about+value))
		if f.short != "" {
			all = append(all, quote(again+"-"+f.short+about+value))
		}
	}
	return all
}

// zshText guards what _arguments reads as its own syntax.
var zshText = strings.NewReplacer("[", `\[`, "]", `\]`, ":", `\:`)
