package main

import (
	"fmt"
	"strings"
)

// bashScript completes commands, flags and known values, and files where there may
// be some. Bash splits a word at an equals sign.
func bashScript(program completable) string {
	var paths, flags, commands []string
	for _, c := range program.all() {
		if c.path != "" {
			paths = append(paths, quote(c.path))
		}
		for _, f := range c.flags {
			if line := bashFlag(c.path, f); line != "" {
				flags = append(flags, line)
			}
		}
		commands = append(commands, bashCommand(c))
	}
	return fmt.Sprintf(`# bash completion for vpnctl
_vpnctl() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} at="" flags="" words="" files="" i
  if [[ $cur == "=" ]]; then cur="" prev+="="; elif [[ $prev == "=" ]]; then prev="${COMP_WORDS[COMP_CWORD-2]}="; fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    case ${COMP_WORDS[i]} in
    %s) ((i++)); [[ ${COMP_WORDS[i]} == "=" ]] && ((i++)) ;;
    -*) [[ ${COMP_WORDS[i+1]} == "=" ]] && ((i += 2)) ;;
    *) case "${at:+$at }${COMP_WORDS[i]}" in %s) at+="${at:+ }${COMP_WORDS[i]}" ;; esac ;;
    esac
  done
  case "$at $prev" in
%s
  *)
    case $at in
%s
    esac ;;
  esac
  if [[ $cur == -* ]]; then words=$flags files=""; fi
  COMPREPLY=($(compgen -W "$words" -- "$cur") $([[ -n $files ]] && compgen "$files" -- "$cur"))
}
complete -o filenames -F _vpnctl vpnctl
`, strings.Join(program.takers(), "|"), strings.Join(paths, "|"), strings.Join(flags, "\n"), strings.Join(commands, "\n"))
}

// bashFlag says what may follow a flag of a command.
func bashFlag(path string, f completableFlag) string {
	var patterns []string
	for _, name := range f.dashed() {
		if f.value {
			patterns = append(patterns, quote(path+" "+name))
		}
		if f.value || f.paths != "" {
			patterns = append(patterns, quote(path+" "+name+"="))
		}
	}
	if len(patterns) == 0 {
		return ""
	}
	follows := map[string]string{"file": "files=-f ", "dir": "files=-d "}[f.paths]
	if len(f.values) > 0 {
		follows = "words=" + quote(strings.Join(f.values, " ")) + " "
	}
	return "  " + strings.Join(patterns, "|") + ") " + follows + ";;"
}

// bashCommand says what may follow a command.
func bashCommand(c completable) string {
	var flags []string
	for _, f := range c.flags {
		flags = append(flags, f.dashed()...)
	}
	files := ""
	if c.files {
		files = " files=-f"
	}
	return fmt.Sprintf("    %s) flags=%s words=%s%s ;;", quote(c.path), quote(strings.Join(flags, " ")), quote(strings.Join(c.next(), " ")), files)
}
