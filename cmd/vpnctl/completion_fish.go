package main

import (
	"fmt"
	"strings"
)

// fishScript has one complete line for each command and flag.
func fishScript(all []completable) string {
	var b strings.Builder
	b.WriteString("# fish completion for vpnctl\n")
	for _, c := range all {
		if c.name == "" {
			for _, f := range c.flags {
				b.WriteString(fishFlag("__fish_use_subcommand", f))
			}
			continue
		}
		fmt.Fprintf(&b, "complete -c vpnctl -f -n __fish_use_subcommand -a %s -d %s\n", c.name, quote(c.help))
		seen := quote("__fish_seen_subcommand_from " + c.name)
		if len(c.words) > 0 {
			fmt.Fprintf(&b, "complete -c vpnctl -f -n %s -a %s\n", seen, quote(strings.Join(c.words, " ")))
		}
		for _, f := range c.flags {
			b.WriteString(fishFlag(seen, f))
		}
	}
	return b.String()
}

func fishFlag(when string, f completableFlag) string {
	s := fmt.Sprintf("complete -c vpnctl -n %s -l %s", when, f.name)
	if f.short != "" {
		s += " -s " + f.short
	}
	switch {
	case len(f.values) > 0:
		s += " -x -a " + quote(strings.Join(f.values, " "))
	case f.value:
		s += " -r"
	}
	return s + " -d " + quote(f.help) + "\n"
}
