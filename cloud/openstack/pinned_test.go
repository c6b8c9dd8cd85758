package openstack

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/cloud/simulator"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/state"
)

// A pinned address that carries another's tags is another's, even while no port
// has it: observing says whose, and the driver doesn't associate it, whatever a
// plan says.
func TestAnAddressOfAnotherIsNotTaken(t *testing.T) {
	float := resource.KindFloatingIP
	for name, c := range map[string]struct {
		tags []string
		says string // empty: it is taken
	}{
		"nobody's":                       {nil, ""},
		"tagged by other tools":          {[]string{"team=red"}, ""},
		"another estate's":               {state.Tags("other", owner("dc1")), "VPNGateway/acme/dc1 of estate other"},
		"another gateway's":              {state.Tags("prod", owner("dc2")), "VPNGateway/acme/dc2"},
		"somebody's, with half the tags": {[]string{state.ManagedTag}, "somebody, but the tags don't say whom"},
	} {
		for _, before := range []string{"none", "associated before"} {
			t.Run(name+", "+before, func(t *testing.T) {
				l := newLab(t, simulator.Options{})
				l.reserve("203.0.113.150")
				w, h := l.customers("203.0.113.150"), l.hand()
				l.settle(keep, w)
				o := l.look(keep, w)
				action := plan.Update
				if before == "none" {
					h.put("floatingip", floatsPath+"/"+w.ledger.FloatingIP, map[string]any{"port_id": nil})
					action = plan.Create
				}
				h.retag(floatsPath, w.ledger.FloatingIP, c.tags...)

				if got := l.look(keep, w).Pins[0].Marked; got != c.says {
					t.Errorf("marked %q, want %q", got, c.says)
				}
				untouched := l.snapshot()
				d := l.connect("operator")
				if _, err := d.Observe(t.Context(), estate(w), keep); err != nil {
					t.Fatal(err)
				}
				_, err := d.Apply(t.Context(), change(o, w, float, action))
				if c.says == "" {
					if err != nil {
						t.Error(err)
					}
					return
				}
				if !errors.Is(err, cloud.ErrConflict) || !strings.Contains(err.Error(), "carries the tags of "+c.says) {
					t.Errorf("error %v, want a conflict that says whose it is", err)
				}
				if diff := cmp.Diff(untouched, l.snapshot()); diff != "" {
					t.Errorf("something was changed (-before +after):\n%s", diff)
				}
			})
		}
	}
}

// The address that a gateway has is not given up for one that it can't have.
func TestAnAddressIsKeptUntilItsSuccessorIsFree(t *testing.T) {
	l, h, w := built(t)
	l.reserve("203.0.113.150")
	next := l.customers("203.0.113.150")
	o := l.look(keep, w)
	other := h.post("port", portsPath, map[string]any{"network_id": o.Facts.NetworkID, "name": "lb-frontend"})
	h.put("floatingip", floatsPath+"/"+next.ledger.FloatingIP, map[string]any{"port_id": other})
	before := l.snapshot()
	h.facts()
	_, err := h.Apply(t.Context(), change(o, next, resource.KindFloatingIP, plan.Replace))
	if !errors.Is(err, cloud.ErrConflict) || !strings.Contains(err.Error(), `held by port "lb-frontend"`) {
		t.Errorf("error %v, want a conflict that names the holder", err)
	}
	if diff := cmp.Diff(before, l.snapshot()); diff != "" {
		t.Errorf("something was changed (-before +after):\n%s", diff)
	}
}
