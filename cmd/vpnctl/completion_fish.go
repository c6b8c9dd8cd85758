package main

import (
	"fmt"
	"strings"
)

// fishScript has one complete line for each command and flag, and a condition that
// tells which command they are for.
func fishScript(program completable) string {
	var paths []string
	for _, c := range program.all() {
		if c.path != "" {
			paths = append(paths, quote(c.path))
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, `# fish completion for vpnctl
function __vpnctl_at
    set -l at
    set -l value 0
    set -l typed (commandline -opc)
    for word in $typed[2..]
        if test $value = 1
            set value 0
            continue
        end
        switch $word
            case %s
                set value 1
            case '-*'
            case '*'
                if contains -- (string join ' ' $at $word) %s
                    set -a at $word
                end
        end
    end
    test "$at" = "$argv"
end
`, strings.Join(program.takers(), " "), strings.Join(paths, " "))
	for _, c := range program.all() {
		b.WriteString(fishCommand(c))
	}
	return b.String()
}

func fishCommand(c completable) string {
	var b strings.Builder
	at := "complete -c vpnctl -n " + quote(strings.TrimSpace("__vpnctl_at "+c.path))
	if !c.files {
		b.WriteString(at + " -f\n")
	}
	for _, below := range c.below {
		fmt.Fprintf(&b, "%s -a %s -d %s\n", at, below.name(), quote(below.help))
	}
	if len(c.words) > 0 {
		fmt.Fprintf(&b, "%s -a %s\n", at, quote(strings.Join(c.words, " ")))
	}
	for _, f := range c.flags {
		b.WriteString(at + fishFlag(f))
	}
	return b.String()
}

func fishFlag(f completableFlag) string {
	s := " -l " + f.name
	if f.short != "" {
		s += " -s " + f.short
	}
	switch {
	case len(f.values) > 0:
		s += " -x -a " + quote(strings.Join(f.values, " "))
	case f.value && f.paths == "file":
		s += " -r -F"
	case f.value && f.paths == "dir":
		s += " -x -a '(__fish_complete_directories)'"
	case f.value:
		s += " -x"
	}
	return s + " -d " + quote(f.help) + "\n"
}
