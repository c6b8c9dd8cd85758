package reconcile_test

import (
	"testing"
	"time"

	"github.com/vpnctl/vpnctl/cloud/reconcile"
	"github.com/vpnctl/vpnctl/cloud/reconcile/world"
	"github.com/vpnctl/vpnctl/cloud/simulator"
	"github.com/vpnctl/vpnctl/plan"
)

// TestTheHoldCountsByTheCloudsClock removes a gateway on machines whose clocks are
// wrong: what is held, and until when, does not depend on them.
func TestTheHoldCountsByTheCloudsClock(t *testing.T) {
	w := world.New(t, simulator.Options{})
	w.Apply(world.Estate(t), plan.Options{})
	gone := plan.Options{Prune: true, Hold: time.Hour}
	planned := func(wrong time.Duration) plan.Plan {
		in, _, err := w.Input(t.Context(), fewer(t), gone)
		if err != nil {
			t.Fatal(err)
		}
		in.Now = in.Now.Add(wrong)
		r, err := reconcile.Plan(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		return r.Plan
	}
	held := func(p plan.Plan) (n int, until time.Time) {
		for _, c := range p.Changes {
			if c.Held != "" {
				n, until = n+1, c.HeldUntil
			}
		}
		return n, until
	}
	want := w.Time().Add(time.Hour)
	for _, wrong := range []time.Duration{-24 * time.Hour, 0, 24 * time.Hour} {
		if n, until := held(planned(wrong)); n == 0 || !until.Equal(want) {
			t.Errorf("a clock that is %s off: %d held until %s, want some until %s", wrong, n, until, want)
		}
	}
	w.Apply(fewer(t), gone)
	want = w.Time().Add(time.Hour)
	w.Pass(30 * time.Minute)
	for _, wrong := range []time.Duration{-24 * time.Hour, 24 * time.Hour} {
		if n, until := held(planned(wrong)); n == 0 || until.After(want) || len(planned(wrong).Pending()) > 0 {
			t.Errorf("a clock that is %s off, half the hold later: %d held until %s, want until %s", wrong, n, until, want)
		}
	}
	w.Pass(31 * time.Minute)
	for _, wrong := range []time.Duration{-24 * time.Hour, 24 * time.Hour} {
		if n, _ := held(planned(wrong)); n > 0 {
			t.Errorf("a clock that is %s off: %d held when the hold is over", wrong, n)
		}
	}
}
