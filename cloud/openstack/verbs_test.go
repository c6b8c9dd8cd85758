package openstack

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/cloud/simulator"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/state"
)

// A new gateway with a reverse exposure takes these write calls and no other.
// Each is needed: Neutron drops or refuses tags in a create, so what is made has
// to be tagged by a call of its own, before it is used; attaching is Nova's; an
// address is only associated once it is tagged, or a cut-off create could not be
// told from one in use; and the state that was reached is known only at the end.
func TestWritesOfANewGateway(t *testing.T) {
	l := newLab(t, simulator.Options{})
	w := gatewayWish("dc1", "100.64.3.0/24", l.node("worker-1"))
	d := l.connect("operator")
	l.Reset()
	if _, err := runWith(t.Context(), d, keep, w); err != nil {
		t.Fatal(err)
	}
	var writes []string
	reads := 0
	for _, c := range l.Calls() {
		if c.Write() {
			writes = append(writes, c.Method+" "+c.Pattern)
		} else if !c.Keystone() {
			reads++
		}
	}
	want := []string{
		"POST /v2.0/security-groups",
		"PUT /v2.0/security-groups/{id}/tags", // the ledger, before anything uses it
		"POST /v2.0/security-group-rules",     // all rules in one
		"POST /v2.0/ports",                    // with group and allowed address pairs
		"PUT /v2.0/ports/{id}/tags",
		"POST /v2.1/servers/{id}/os-interface",
		"POST /v2.0/floatingips",
		"PUT /v2.0/floatingips/{id}/tags",
		"PUT /v2.0/floatingips/{id}",
		"PUT /v2.0/routers/{id}/add_extraroutes",
		"PUT /v2.0/security-groups/{id}/tags", // the state that was reached
	}
	if diff := cmp.Diff(want, writes); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if reads > 15 {
		t.Errorf("%d reads, 7 to observe and 8 to guard are enough", reads)
	}
}

// An update that finds everything in place sends nothing.
func TestWhatIsInPlaceIsNotWritten(t *testing.T) {
	l, _, w := built(t)
	o := l.look(keep, w)
	d := l.connect("operator")
	if _, err := d.Observe(t.Context(), estate(w), keep); err != nil {
		t.Fatal(err)
	}
	l.Reset()
	for _, k := range buildOrder {
		for _, a := range []plan.Action{plan.Update, plan.Create} {
			if _, err := d.Apply(t.Context(), change(o, w, k, a)); err != nil {
				t.Errorf("%s %s: %v", a, k, err)
			}
		}
	}
	for _, c := range l.Calls() {
		if c.Write() {
			t.Errorf("wrote %s %s", c.Method, c.Path)
		}
	}
}

// A port that another hand switched off, or whose security, is switched on again
// in the call that gives it back its groups and pairs: in between it would be open.
func TestAPortIsSwitchedOnAgain(t *testing.T) {
	for name, harm := range map[string]func(h hand, id string){
		"no security": hand.strip,
		"down":        func(h hand, id string) { h.put("port", portsPath+"/"+id, map[string]any{"admin_state_up": false}) },
		"both": func(h hand, id string) {
			h.strip(id)
			h.put("port", portsPath+"/"+id, map[string]any{"admin_state_up": false})
		},
	} {
		t.Run(name, func(t *testing.T) {
			l, h, w := built(t)
			before := l.snapshot()
			harm(h, l.look(keep, w).Graph[idOf(resource.KindPort, w.owner)].Ref)
			l.Reset()
			if _, err := runWith(t.Context(), l.connect("operator"), keep, w); err != nil {
				t.Fatal(err)
			}
			writes := 0
			for _, c := range l.Calls() {
				if c.Write() && !c.Keystone() {
					writes++
				}
			}
			if diff := cmp.Diff(before, l.snapshot()); diff != "" || writes != 1 {
				t.Errorf("%d writes, want one (-before +after):\n%s", writes, diff)
			}
		})
	}
}

// strip switches a port's security off, which takes its groups and pairs.
func (h hand) strip(id string) {
	h.t.Helper()
	h.put("port", portsPath+"/"+id, map[string]any{"port_security_enabled": false, "security_groups": []string{}, "allowed_address_pairs": []pair{}})
}

// Equal rules that a race made are reduced to one; the foreign one stays.
func TestEqualRulesBecomeOne(t *testing.T) {
	want := []resource.Rule{
		{Direction: "egress", Ether: "IPv4"}, {Direction: "egress", Ether: "IPv6"},
		{Direction: "ingress", Ether: "IPv4", Protocol: "udp", From: 500, To: 500, Remote: cidr("198.51.100.20/32")},
	}
	udp, all, host := "17", 500, "198.51.100.20"
	ours, theirs := state.RuleDescription("peer plant1"), "by hand"
	have := []rule{
		{ID: "a", Direction: "egress", Ether: "IPv4"}, {ID: "b", Direction: "egress", Ether: "IPv6"},
		{ID: "c", Direction: "ingress", Ether: "IPv4", Protocol: &udp, From: &all, To: &all, Remote: &host, Description: &theirs},
		{ID: "d", Direction: "ingress", Ether: "IPv4", Protocol: &udp, From: &all, To: &all, Remote: &host, Description: &ours},
		{ID: "e", Direction: "ingress", Ether: "IPv4", Protocol: &udp, From: &all, To: &all, Remote: &host, Description: &ours},
		{ID: "f", Direction: "ingress", Ether: "IPv4", Protocol: &udp, Description: &ours},
	}
	if got := superfluous(have, want); !slices.Equal(got, []string{"e", "f"}) {
		t.Errorf("superfluous %v, want e and f", got)
	}
	if got := missing(have, want); len(got) > 0 {
		t.Errorf("missing %v, want none", got)
	}
	if got := superfluous(have, nil); !slices.Equal(got, []string{"d", "e", "f"}) {
		t.Errorf("with nothing planned superfluous %v, want all of ours and no default", got)
	}
}

// Where the atomic calls are missing routes are read, written whole and read
// back, and others' stay.
func TestRoutesWithoutTheAtomicCalls(t *testing.T) {
	l := newLab(t, simulator.Options{})
	l.crowd()
	before := l.snapshot()
	l.fault = func(_ int, r *http.Request) simulator.Fault {
		if strings.HasSuffix(r.URL.Path, "_extraroutes") {
			return simulator.Fault{Do: simulator.Fail, Status: 404, Type: "HTTPNotFound"}
		}
		return simulator.Fault{}
	}
	w := gatewayWish("dc1", "100.64.3.0/24", l.node("worker-1"))
	l.settle(keep, w)
	if r := l.look(keep, w).Graph[idOf(resource.KindRoute, w.owner)].Route; r == nil || r.NextHop == "" {
		t.Errorf("route %+v, want one", r)
	}
	l.settle(prune)
	if diff := cmp.Diff(before, l.snapshot()); diff != "" {
		t.Errorf("(-before +after):\n%s", diff)
	}
}

// A client that writes the whole list at the same moment takes ours away again;
// reading it back shows that, and it is written once more.
func TestRoutesThatAnotherClientOverwroteAreWrittenAgain(t *testing.T) {
	for name, c := range map[string]struct {
		times int
		want  error
	}{"once": {1, nil}, "each time": {-1, cloud.ErrConflict}} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, simulator.Options{})
			d, h := l.connect("operator"), l.hand()
			h.facts()
			s, err := h.here()
			if err != nil {
				t.Fatal(err)
			}
			d.setPlain()
			written, left := false, c.times
			l.fault = func(_ int, r *http.Request) simulator.Fault {
				switch router := strings.HasSuffix(r.URL.Path, "/routers/"+s.router.ID); {
				case router && r.Method == http.MethodPut && !written:
					written = true
				case router && r.Method == http.MethodGet && written && left != 0:
					left--
					h.put("router", routersPath+"/"+s.router.ID, map[string]any{"routes": []hop{}})
					written = false
				}
				return simulator.Fault{}
			}
			_, err = runWith(t.Context(), d, keep, gatewayWish("dc1", "100.64.3.0/24", l.node("worker-1")))
			if !errors.Is(err, c.want) {
				t.Errorf("error %v, want %v", err, c.want)
			}
			l.heal()
			r, _, err := read[router](t.Context(), d, routersPath, s.router.ID)
			if err != nil || (len(r.Routes) == 1) != (c.want == nil) {
				t.Errorf("routes %v, error %v", r.Routes, err)
			}
		})
	}
}

func TestRoutesExhaustedSaysSo(t *testing.T) {
	l := newLab(t, simulator.Options{RouteLimit: 1})
	h := l.hand()
	h.route(&cloud.Observation{Facts: h.facts()}, "add_extraroutes", "192.168.0.0/16", "10.254.0.99")
	_, err := runWith(t.Context(), l.connect("operator"), keep, gatewayWish("dc1", "100.64.3.0/24", l.node("worker-1")))
	if !typed(err, "RoutesExhausted") || !strings.Contains(err.Error(), "as many routes as this cloud allows") {
		t.Errorf("error %v", err)
	}
}

func TestQuotaIsNotTriedAgain(t *testing.T) {
	l := newLab(t, simulator.Options{Quota: map[string]int{"floatingip": 0}})
	d := l.connect("operator")
	l.Reset()
	_, err := runWith(t.Context(), d, keep, gatewayWish("dc1", "100.64.3.0/24", l.node("worker-1")))
	if !errors.Is(err, cloud.ErrQuota) {
		t.Errorf("error %v, want the quota", err)
	}
	if n := simulator.Count(l.Calls()).By["POST /v2.0/floatingips"]; n != 1 {
		t.Errorf("asked %d times, want once", n)
	}
}

// Draining is set and taken back on the ledger, and the record of the state that
// was reached stays beside it.
func TestDrainingStandsOnTheLedger(t *testing.T) {
	l, _, w := built(t)
	d := l.connect("operator")
	since := time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
	for _, want := range []time.Time{since, {}} {
		o, err := d.Observe(t.Context(), estate(w), keep)
		if err != nil {
			t.Fatal(err)
		}
		c := change(o, w, resource.KindSecurityGroup, plan.Update)
		c.After.SecurityGroup.Draining = want
		if _, err := d.Apply(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		o = l.look(keep, w)
		if got := o.Graph[c.ID].SecurityGroup.Draining; !got.Equal(want) {
			t.Errorf("draining %v, want %v", got, want)
		}
		if a, ok := o.Graph[idOf(resource.KindApplied, w.owner)]; ok {
			t.Errorf("applied %+v: a gateway that drains has left the state that it had reached", a.Applied)
		}
	}
}

// Gateways are built side by side.
func TestSideBySide(t *testing.T) {
	l := newLab(t, simulator.Options{})
	d := l.connect("operator")
	var wishes []wish
	for i := range 8 {
		wishes = append(wishes, gatewayWish(fmt.Sprintf("dc%d", i), fmt.Sprintf("100.64.%d.0/24", i), l.node("worker-1")))
	}
	o, err := d.Observe(t.Context(), estate(wishes...), keep)
	if err != nil {
		t.Fatal(err)
	}
	var calls []func(context.Context) error
	for _, w := range wishes {
		calls = append(calls, func(ctx context.Context) error {
			facts := o.Facts
			for _, k := range buildOrder {
				news, err := d.Apply(ctx, change(&cloud.Observation{Facts: facts}, w, k, plan.Create))
				if err != nil {
					return err
				}
				facts = facts.Learn(w.owner.String(), news)
			}
			return nil
		})
	}
	if err := together(t.Context(), calls...); err != nil {
		t.Fatal(err)
	}
	if left := changes(l.look(prune, wishes...), wishes); len(left) > 0 {
		t.Errorf("%d changes are left, the first %s %s", len(left), left[0].Action, left[0].ID)
	}
}
