package view

import (
	"fmt"
	"slices"

	"github.com/vpnctl/vpnctl/plan"
)

const namesInText = 10

// closing writes the lines that answer: how much, who is interrupted, who must
// act, what next.
func (t *text) closing() {
	t.line()
	for _, s := range t.tally.sentences(t.p.Refusals) {
		for _, line := range words(s, t.o.columns()) {
			t.line(line)
		}
	}
	if t.o.Next != "" && t.tally.Pending() > 0 && len(t.p.Refusals) == 0 {
		t.line("Next: ", t.ink.paint(bold, Plain(t.o.Next)))
	}
}

// sentences are the summary in words, the same in text and in markdown.
func (t tally) sentences(refusals []plan.Refusal) []string {
	first := "Plan: " + t.counts() + "."
	if t.Pending() == 0 {
		first = t.unchanged(len(refusals))
	}
	if n := len(t.interrupted); n > 0 {
		first += fmt.Sprintf(" Interrupts %s (%s).", count(n, "tunnel"), names(t.interrupted, namesInText))
	}
	first += t.grants()
	all := []string{first}
	if len(t.customers) > 0 {
		all = append(all, "Customers who must act: "+names(t.customers, namesInText)+".")
	}
	if s := t.blockage(); s != "" {
		all = append(all, s)
	}
	if n := len(refusals); n > 0 {
		all = append(all, count(n, "refusal")+": "+consequence(refusals))
	}
	return all
}

// consequence is what apply makes of refusals: one of a gateway leaves that alone,
// one of the estate as a whole everything.
func consequence(refusals []plan.Refusal) string {
	whole := slices.ContainsFunc(refusals, func(r plan.Refusal) bool { return r.Owner.IsZero() })
	if whole {
		return "apply would change nothing at all."
	}
	return "what is named there is left alone."
}

func (t tally) unchanged(refused int) string {
	switch {
	case refused > 0:
		return "Plan: nothing that may be done."
	case t.Held > 0:
		return "Plan: no changes now, " + t.held() + "."
	}
	s := "Plan: no changes."
	if t.Kept > 0 {
		s += fmt.Sprintf(" %d foreign kept.", t.Kept)
	}
	return s
}
