package main

import (
	"fmt"
	"slices"
	"strings"
)

// bashScript completes commands, flags and known values, and files for the rest.
func bashScript(all []completable) string {
	var names, cases, values []string
	for _, c := range all {
		cases = append(cases, fmt.Sprintf("    %q) words=%q ;;", c.name, strings.Join(c.all(), " ")))
		if c.name != "" {
			names = append(names, c.name)
		}
		for _, f := range c.flags {
			if len(f.values) > 0 {
				values = append(values, fmt.Sprintf("    --%s) COMPREPLY=($(compgen -W %q -- \"$cur\")); return ;;", f.name, strings.Join(f.values, " ")))
			}
		}
	}
	slices.Sort(values)
	return fmt.Sprintf(`# bash completion for vpnctl
_vpnctl() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command="" word words i
  if [[ $cur == "=" ]]; then cur=""; elif [[ $prev == "=" ]]; then prev=${COMP_WORDS[COMP_CWORD-2]}; fi
  case $prev in
%s
  esac
  for ((i = 1; i < COMP_CWORD; i++)); do
    for word in %s; do
      [[ -z $command && ${COMP_WORDS[i]} == "$word" ]] && command=$word
    done
  done
  case $command in
%s
  esac
  if [[ -z $command && $cur != -* ]]; then words=%q; fi
  if [[ $cur == -* || -z $command ]]; then
    COMPREPLY=($(compgen -W "$words" -- "$cur"))
  else
    COMPREPLY=($(compgen -W "${words//-[^ ]*/}" -- "$cur") $(compgen -f -- "$cur"))
  fi
}
complete -o filenames -F _vpnctl vpnctl
`, strings.Join(slices.Compact(values), "\n"), strings.Join(names, " "), strings.Join(cases, "\n"), strings.Join(names, " "))
}
