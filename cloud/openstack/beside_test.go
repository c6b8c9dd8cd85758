package openstack

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/state"
)

// While an address leads to a gateway's port that is not known as its own, a plan
// refuses the gateway by that address's name, and the driver takes no new address
// and moves none, whatever it is told.
func TestAnAddressBesideTheGatewaysOwn(t *testing.T) {
	free := map[string]any{"port_id": nil}
	another := func(h hand, port string, tags ...string) {
		id := h.post("floatingip", floatsPath, map[string]any{"floating_network_id": h.pool(), "port_id": port, "description": "by hand"})
		h.retag(floatsPath, id, tags...)
	}
	for name, harm := range map[string]func(h hand, own, port string){
		"its own, without tags and description": func(h hand, own, _ string) {
			h.retag(floatsPath, own)
			h.put("floatingip", floatsPath+"/"+own, map[string]any{"description": "mine now"})
		},
		"another, and its own is free": func(h hand, own, port string) {
			h.put("floatingip", floatsPath+"/"+own, free)
			another(h, port)
		},
		"another, and its own is deleted": func(h hand, own, port string) {
			h.do("DELETE", floatsPath+"/"+own, nil)
			another(h, port)
		},
		"another gateway's": func(h hand, own, port string) {
			h.put("floatingip", floatsPath+"/"+own, free)
			another(h, port, state.Tags("prod", owner("dc9"))...)
		},
		"another estate's": func(h hand, own, port string) {
			h.put("floatingip", floatsPath+"/"+own, free)
			another(h, port, state.Tags("other", owner("dc1"))...)
		},
	} {
		t.Run(name, func(t *testing.T) {
			l, h, w := built(t)
			before := l.look(keep, w)
			id := idOf(resource.KindFloatingIP, w.owner)
			harm(h, before.Graph[id].Ref, before.Graph[idOf(resource.KindPort, w.owner)].Ref)

			for _, s := range []cloud.Scope{keep, prune} {
				var said []string
				for _, p := range l.look(s, w).Problems {
					if p.ID == id {
						said = append(said, p.Message)
					}
				}
				if len(said) != 1 || !strings.Contains(said[0], "leads to its port") {
					t.Errorf("leftovers %v: said %q", s.Leftovers, said)
				}
			}

			left := l.snapshot()
			d := l.connect("operator")
			if _, err := d.Observe(t.Context(), estate(w), keep); err != nil {
				t.Fatal(err)
			}
			action := plan.Create
			if _, there := l.look(keep, w).Graph[id]; there {
				action = plan.Update
			}
			now := l.look(keep, w)
			_, err := d.Apply(t.Context(), change(now, w, resource.KindFloatingIP, action))
			if !errors.Is(err, cloud.ErrConflict) || !strings.Contains(err.Error(), "not known as the gateway's") {
				t.Errorf("%s: error %v", action, err)
			}
			if diff := cmp.Diff(left, l.snapshot()); diff != "" {
				t.Errorf("%s (-before +after):\n%s", action, diff)
			}
		})
	}
}

// A list that has not caught up shows no address: the one that is there is used.
func TestAStaleListTakesNoSecondAddress(t *testing.T) {
	l, h, w := built(t)
	o := l.look(keep, w)
	id := idOf(resource.KindFloatingIP, w.owner)
	h.put("floatingip", floatsPath+"/"+o.Graph[id].Ref, map[string]any{"description": "the customer calls it so"})
	d := l.connect("operator")
	if _, err := d.Observe(t.Context(), estate(w), keep); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Apply(t.Context(), change(o, w, resource.KindFloatingIP, plan.Create)); err != nil {
		t.Error(err)
	}
	if n := len(l.of("floating-ip")); n != 1 {
		t.Errorf("%d floating IPs, want the one that was there", n)
	}
}

// pool is the ID of the simulator's external network.
func (h hand) pool() string {
	h.t.Helper()
	found, err := h.networksNamed(h.t.Context(), []string{"public"})
	if err != nil || len(found) != 1 {
		h.t.Fatal(found, err)
	}
	return found[0].ID
}
