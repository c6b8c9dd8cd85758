package main

import (
	"fmt"
	"strings"
)

// zshScript completes with descriptions, as zsh's own functions do.
func zshScript(all []completable) string {
	var commands, cases []string
	for _, c := range all {
		if c.name == "" {
			continue
		}
		commands = append(commands, "    "+quote(c.name+":"+c.help))
		cases = append(cases, fmt.Sprintf("    %s)\n      _arguments %s ;;", c.name, strings.Join(zshArguments(c), " \\\n        ")))
	}
	return fmt.Sprintf(`#compdef vpnctl
_vpnctl() {
  local context state line
  local -a commands
  commands=(
%s
  )
  _arguments -C \
    %s \
    '1: :->command' '*:: :->rest'
  case $state in
  command) _describe command commands ;;
  rest)
    case $line[1] in
%s
    esac ;;
  esac
}
if [ "$funcstack[1]" = "_vpnctl" ]; then _vpnctl "$@"; else compdef _vpnctl vpnctl; fi
`, strings.Join(commands, "\n"), strings.Join(zshFlags(all[0]), " \\\n    "), strings.Join(cases, "\n"))
}

func zshArguments(c completable) []string {
	if len(c.words) > 0 {
		return append(zshFlags(c), quote("1: :("+strings.Join(c.words, " ")+")"))
	}
	return append(zshFlags(c), quote("*:file:_files"))
}

func zshFlags(c completable) []string {
	var all []string
	for _, f := range c.flags {
		about := "[" + zshText.Replace(f.help) + "]"
		value := ""
		switch {
		case len(f.values) > 0:
			value = ":value:(" + strings.Join(f.values, " ") + ")"
		case f.value:
			value = ":value:_files"
		}
		name := "--" + f.name
		if f.value {
			name += "="
		}
		all = append(all, quote(name+about+value))
		if f.short != "" {
			all = append(all, quote("-"+f.short+about+value))
		}
	}
	return all
}

// zshText guards what _arguments reads as its own syntax.
var zshText = strings.NewReplacer("[", `\[`, "]", `\]`, ":", `\:`)
