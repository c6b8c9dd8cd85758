package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/vpnctl/vpnctl/plan"
)

// next is the command line that applies what was planned; empty where it would be
// refused.
func (c planCommand) next(g *Globals, p plan.Plan) string {
	switch {
	case c.pass(p) != nil, slices.ContainsFunc(p.Notices, func(n plan.Notice) bool { return n.Hint == keptElsewhere }):
		return ""
	case c.Out != "":
		return line(slices.Concat(g.words(), c.clusterSide.words(), c.gate.words(), []string{c.Out}))
	}
	return line(slices.Concat(g.words(), c.clusterSide.words(), c.gate.words(), c.selection.words(), c.Paths))
}

// next is the command line that goes on with what an apply has held. A saved plan
// has done its part by then, and doesn't say where its manifests stand.
func (a *application) next() string {
	if a.job.saved != nil {
		return line(slices.Concat(a.globals.words(), a.clusterSide.words(), a.gate.words(), selected(a.job.options).words())) + " <manifests>"
	}
	return line(slices.Concat(a.globals.words(), a.clusterSide.words(), a.gate.words(), a.selection.words(), a.Paths))
}

// selected are the flags that a plan's options were made from.
func selected(o plan.Options) selection {
	f := selection{Gateway: o.Gateways, Link: o.Links, Only: choice(o.Only), Prune: o.Prune, AllowEmpty: o.AllowEmpty, PodsGone: o.PodsGone, Hold: max(o.Hold, 0)}
	if o.MaxDeletes != 0 {
		most := max(o.MaxDeletes, 0)
		f.MaxDeletes = &most
	}
	if o.Hold == 0 {
		f.Hold = plan.DefaultHold
	}
	return f
}

// words are the beginning of a command line that applies.
func (g *Globals) words() []string {
	words := []string{"vpnctl", "apply"}
	if g.Estate != "" {
		words = append(words, "--estate", g.Estate)
	}
	switch {
	case g.Sim.Dir != "":
		words = append(words, "--sim="+g.Sim.Dir)
	case g.Sim.On:
		words = append(words, "--sim")
	}
	return words
}

func (g gate) words() []string {
	if g.DenyImpact == "" {
		return nil
	}
	return []string{"--deny-impact", string(g.DenyImpact)}
}

func (f selection) words() []string {
	var words []string
	for _, g := range f.Gateway {
		words = append(words, "--gateway", g)
	}
	for _, l := range f.Link {
		words = append(words, "--link", l)
	}
	if f.Only != "" {
		words = append(words, "--only", string(f.Only))
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
	for _, file := range f.AdoptFrom {
		words = append(words, "--adopt-from", file)
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
