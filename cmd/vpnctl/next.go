package main

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/vpnctl/vpnctl/plan"
)

// next is the command line that applies what was planned.
func (c planCommand) next(g *Globals) string {
	words := []string{"vpnctl", "apply"}
	if g.Estate != "" {
		words = append(words, "--estate", g.Estate)
	}
	switch g.Sim {
	case "":
	case defaultSim:
		words = append(words, "--sim")
	default:
		words = append(words, "--sim="+string(g.Sim))
	}
	if c.DenyImpact != "" {
		words = append(words, "--deny-impact", c.DenyImpact)
	}
	if c.Out != "" {
		return line(append(words, c.Out))
	}
	return line(append(append(words, c.selection.words()...), c.Paths...))
}

func (f selection) words() []string {
	var words []string
	for _, g := range f.Gateway {
		words = append(words, "--gateway", g)
	}
	if f.Only != "" {
		words = append(words, "--only", f.Only)
	}
	if f.Prune {
		words = append(words, "--prune")
	}
	if f.MaxDeletes != nil {
		words = append(words, "--max-deletes", fmt.Sprint(*f.MaxDeletes))
	}
	if f.AllowEmpty {
		words = append(words, "--allow-empty")
	}
	if f.Hold != plan.DefaultHold {
		words = append(words, "--hold", f.Hold.String())
	}
	if f.PodsGone {
		words = append(words, "--pods-gone")
	}
	return words
}

var bare = regexp.MustCompile(`^[A-Za-z0-9@%+=:,./_-]+$`)

// line joins words for a shell.
func line(words []string) string {
	for i, w := range words {
		if !bare.MatchString(w) {
			words[i] = quote(w)
		}
	}
	return strings.Join(words, " ")
}
