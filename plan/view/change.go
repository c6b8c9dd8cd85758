package view

import (
	"fmt"
	"strings"

	"github.com/vpnctl/vpnctl/plan"
)

// idWidth is the column of what follows a change's ID.
const idWidth = 42

const (
	lineIndent   = "  "
	detailIndent = "      "
)

func (t *text) group(g group, b *block) {
	c := g[0]
	sign, what := c.Action.Sign(), Plain(c.ID.String())
	if len(g) > 1 {
		where := g.folder(t.o.Header.Directory)
		if t.o.Header.Cluster {
			where = "namespace " + c.ID.Namespace
		}
		what = fmt.Sprintf("%d Kubernetes objects in %s", len(g), Plain(where))
	}
	if c.Held != "" {
		sign = signHeld
	}
	t.entry(sign, what, strings.Join(t.remarks(c, len(g) == 1, b), dot))
	t.held(c)
	if effect := effect(c); effect != "" {
		for _, line := range words(effect, t.o.columns()-len(detailIndent)) {
			t.line(detailIndent, t.ink.impact(c.Impact, line))
		}
	}
	if len(g) == 1 {
		t.attributes(c)
	}
}

// entry is a line of a block, "~ ID  why"; what does not fit beside the ID
// stands below it.
func (t *text) entry(sign, what, remark string) {
	mark := byte(' ')
	if len(sign) == 1 && strings.Contains("+-!", sign) {
		mark = sign[0]
	}
	head := pad(what, idWidth) + "  "
	if len(lineIndent)+2+length(head)+length(remark) <= t.o.columns() {
		t.signed(mark, lineIndent, t.ink.sign(sign), " ", head, remark)
		return
	}
	t.signed(mark, lineIndent, t.ink.sign(sign), " ", what)
	for _, line := range wrap(remark, t.o.columns()-len(detailIndent)) {
		t.line(detailIndent, line)
	}
}

// held says why a change is not done yet, once for all in a row that share it.
func (t *text) held(c plan.Change) {
	if c.Held != "" && c.Held != t.lastHeld {
		t.line(detailIndent, Plain(c.Held))
	}
	t.lastHeld = c.Held
}

// remarks are what stands beside a change's ID: what it is, why it happens and,
// for everything that takes something away, why it is ours. Nobody asks why the
// parts of a new gateway are made, or those of one that is gone go.
func (t *text) remarks(c plan.Change, alone bool, b *block) []string {
	var all []string
	add := func(s string) {
		if s != "" {
			all = append(all, Plain(s))
		}
	}
	if c.Held != "" {
		add(string(c.Action) + " held")
	}
	if alone {
		add(subject(c, t.o.Verbose))
	}
	switch {
	case c.Drift:
		add("drift: " + c.Reason)
	case !b.New || c.Action != plan.Create:
		add(b.besides(c.Reason))
	}
	if c.Proof != "" {
		add(whose(c) + c.Proof)
	}
	return all
}

// whose begins the line with a change's proof.
func whose(c plan.Change) string {
	if c.Before != nil && c.Before.Route != nil && c.Before.Route.Others {
		return "not ours, but its "
	}
	return "ours: "
}

// effect is the impact in words; empty where no packet notices.
func effect(c plan.Change) string {
	if c.Impact == plan.ImpactNone && c.Consequence == "" {
		return ""
	}
	s := c.Impact.String()
	if c.Consequence != "" {
		return s + ": " + Plain(c.Consequence)
	}
	if len(c.Interrupts) > 0 {
		s += ": " + names(owned(c, c.Interrupts), namesInText)
	}
	if len(c.Customers) > 0 {
		s += "; must act: " + names(owned(c, c.Customers), namesInText)
	}
	return s
}

func owned(c plan.Change, peers []string) []string {
	var all []string
	for _, p := range peers {
		all = append(all, PeerName(c.Owner, p))
	}
	return all
}
