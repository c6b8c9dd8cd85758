package view

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/vpnctl/vpnctl/plan/vpn"
)

// left says what an apply leaves to be done: what is held, blocked and refused.
func (r *reporter) left() {
	t := sum(r.Plan)
	var all []string
	switch {
	case t.Held > 0 && !t.HeldUntil.IsZero():
		all = append(all, fmt.Sprintf("%s: then run %s again, or with --pods-gone once the pods have ended.", t.held(), Plain(r.Next)))
	case t.Held > 0:
		all = append(all, t.held()+": a later apply does it.")
	}
	if s := t.blockage(); s != "" {
		all = append(all, s)
	}
	refused := map[vpn.Owner]bool{}
	for _, x := range r.Plan.Refusals {
		if !x.Owner.IsZero() {
			refused[x.Owner] = true
		}
	}
	if len(refused) > 0 {
		all = append(all, company(slices.Collect(maps.Keys(refused)))+" refused: see above.")
	}
	for _, s := range all {
		for _, line := range words(s, r.columns()) {
			r.line(line)
		}
	}
}

// held is "4 held until 2026-11-29T22:40:32Z".
func (t tally) held() string {
	s := fmt.Sprintf("%d held", t.Held)
	if !t.HeldUntil.IsZero() {
		s += " until " + t.HeldUntil.UTC().Format(time.RFC3339)
	}
	return s
}

// blockage is "1 gateway blocked (acme/dc1): 3 changes wait."; empty where none is.
func (t tally) blockage() string {
	if len(t.blocked) == 0 {
		return ""
	}
	var paths []string
	for _, o := range t.blocked {
		paths = append(paths, o.Path())
	}
	s := fmt.Sprintf("%s blocked (%s)", company(t.blocked), names(paths, namesInText))
	if t.waiting > 0 {
		s += ": " + waits(t.waiting)
	}
	return s + "."
}

// waits is "1 change waits", "3 changes wait".
func waits(n int) string { return count(n, "change") + " " + conjugate(n, "wait") }
