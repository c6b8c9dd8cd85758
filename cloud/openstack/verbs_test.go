package openstack

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/cloud/simulator"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
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

// The ways of attaching that don't go straight.
func TestAttachmentFindsItsWay(t *testing.T) {
	attaching := func(r *http.Request) bool {
		return r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/os-interface")
	}
	for name, fault := range map[string]func(n int, r *http.Request) simulator.Fault{
		"the new server busy for a while":                failing(3, attaching, simulator.Fault{Do: simulator.Fail, Status: 409}),
		"the old server busy for a while":                failing(3, detaching, simulator.Fault{Do: simulator.Fail, Status: 409}),
		"done, and answered with an error":               failing(1, attaching, simulator.Fault{Do: simulator.Drop}),
		"a server that does not exist any more holds it": failing(1, detaching, simulator.Fault{Do: simulator.Fail, Status: 404}),
	} {
		t.Run(name, func(t *testing.T) {
			l, _, _ := built(t)
			w := gatewayWish("dc1", "100.64.3.0/24", l.node("worker-2"))
			d := l.connect("operator")
			l.fault = fault
			if _, err := runWith(t.Context(), d, keep, w); err != nil {
				t.Fatal(err)
			}
			l.heal()
			if got := l.look(keep, w).Graph[idOf(resource.KindPort, w.owner)].Port.Server; got != w.server {
				t.Errorf("on %s, want %s", got, w.server)
			}
		})
	}
}

// A server that the Estate names and the project doesn't have is told with the field
// that names it, and is no reason to try again.
func TestAttachingToNoServerNamesTheField(t *testing.T) {
	l := newLab(t, simulator.Options{})
	w := gatewayWish("dc1", "100.64.3.0/24", "11111111-2222-3333-4444-555555555555")
	_, err := runWith(t.Context(), l.connect("operator"), keep, w)
	if !errors.Is(err, cloud.ErrUnresolved) || !strings.Contains(err.Error(), "spec.kubernetes.nodes: ") || !strings.Contains(err.Error(), w.server) {
		t.Errorf("error %v", err)
	}
	w.server = l.node("worker-1")
	if _, err := runWith(t.Context(), l.connect("operator"), keep, w); err != nil {
		t.Errorf("with a server that is there: %v", err)
	}
}

// Before a gateway that runs is taken from its server, the one that it is to go to
// is looked for: a plan refuses what isn't there, and so does the driver.
func TestAGatewayIsNotDetachedForAServerThatIsNotThere(t *testing.T) {
	l, _, w := built(t)
	standing := l.snapshot()
	there, missing := w, w
	there.server, missing.server = l.node("worker-2"), "11111111-2222-3333-4444-555555555555"
	d := l.connect("operator")
	o, err := d.Observe(t.Context(), estate(w), keep)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		to       wish
		calls    int
		refusals int
	}{
		"where it is":          {w, 0, 0},
		"a server that is":     {there, 1, 0},
		"a server that is not": {missing, 1, 1},
	} {
		desired := resource.Graph{}
		desired.Add(c.to.desired(o.Facts)...)
		l.Reset()
		got, err := d.Obstacles(t.Context(), desired, o.Graph)
		if err != nil || len(got) != c.refusals || len(l.Calls()) != c.calls {
			t.Errorf("%s: refusals %v, error %v, %d calls", name, got, err, len(l.Calls()))
		}
		for _, r := range got {
			if r.Owner != w.owner || !strings.Contains(r.Message, "spec.kubernetes.nodes: ") || !strings.Contains(r.Message, missing.server) {
				t.Errorf("%s: %+v", name, r)
			}
		}
	}
	missing.ledger.ServiceCIDR = cidr("100.64.9.0/24") // its pairs are to change as well
	for _, a := range []plan.Action{plan.Update, plan.Replace} {
		if _, err := d.Apply(t.Context(), change(o, missing, resource.KindPort, a)); !errors.Is(err, cloud.ErrUnresolved) {
			t.Errorf("%s: error %v", a, err)
		}
	}
	if diff := cmp.Diff(standing, l.snapshot()); diff != "" {
		t.Errorf("(-before +after):\n%s", diff)
	}
}

// failing disturbs the first calls of one kind; -1: all of them.
func failing(times int, which func(*http.Request) bool, f simulator.Fault) func(int, *http.Request) simulator.Fault {
	return func(_ int, r *http.Request) simulator.Fault {
		if !which(r) || times == 0 {
			return simulator.Fault{}
		}
		times--
		return f
	}
}

func detaching(r *http.Request) bool {
	return r.Method == http.MethodDelete && strings.Contains(r.URL.Path, "/os-interface/")
}

func TestDetachingEndsWithPatience(t *testing.T) {
	for name, c := range map[string]struct {
		cloud simulator.Options
		fault simulator.Fault
		says  string
	}{
		"a server that is locked says so": {simulator.Options{},
			simulator.Fault{Do: simulator.Fail, Status: 409, Message: "Instance worker-1 is locked"}, "409 conflictingRequest: Instance worker-1 is locked"},
		"a server that never lets go": {simulator.Options{DetachDelay: time.Hour}, simulator.Fault{}, "still attached after 2m0s"},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, c.cloud)
			w := gatewayWish("dc1", "100.64.3.0/24", l.node("worker-1"))
			l.settle(keep, w)
			d := l.connect("operator")
			l.fault = failing(-1, detaching, c.fault)
			_, err := runWith(t.Context(), d, keep, gatewayWish("dc1", "100.64.3.0/24", l.node("worker-2")))
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("error %v, want %q", err, c.says)
			}
			if got := l.look(keep, w).Graph[idOf(resource.KindPort, w.owner)].Port.Server; got != w.server {
				t.Errorf("on %s, want still %s", got, w.server)
			}
		})
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

// Of two runs that made the same claim the older group wins, and the other
// withdraws its own.
func TestRecheck(t *testing.T) {
	for name, w := range map[string]wish{
		"for one owner":        gatewayWish("dc1", "100.64.3.0/24", ""),
		"for one service CIDR": gatewayWish("dc2", "100.64.3.0/24", ""),
	} {
		t.Run(name, func(t *testing.T) {
			var seconds atomic.Int64 // each look at the clock is one later
			l := newLab(t, simulator.Options{Clock: func() time.Time { return time.Unix(1_800_000_000+seconds.Add(1), 0) }})
			first := gatewayWish("dc1", "100.64.3.0/24", "")
			a, b := l.connect("operator"), l.connect("operator")
			claim(t, a, first)
			claim(t, b, w)
			for d, want := range map[*Driver]int{a: 0, b: 1} {
				who := first.owner
				if d == b {
					who = w.owner
				}
				losers, err := d.Recheck(t.Context(), []vpn.Owner{who})
				if err != nil || len(losers) != want {
					t.Errorf("losers %v, error %v; want %d", losers, err, want)
				}
			}
			if groups := l.of("security-group").Only(func(o simulator.Object) bool { return o.Text("name") != "default" }); len(groups) != 1 {
				t.Errorf("%d groups are left, want the winner's", len(groups))
			}
		})
	}
}

// A gateway that stands keeps its range, though an older claim comes to light that
// nothing stands behind: the run that wrote it says so, and withdraws it.
func TestAClaimThatComesToLightLate(t *testing.T) {
	var seconds atomic.Int64
	l := newLab(t, simulator.Options{Clock: func() time.Time { return time.Unix(1_800_000_000+seconds.Add(1), 0) }})
	late, up := gatewayWish("dc1", "100.64.3.0/24", l.node("worker-1")), gatewayWish("dc2", "100.64.3.0/24", l.node("worker-1"))
	a := l.connect("operator")
	claim(t, a, late)
	own := l.look(keep, late).Ledgers[0].Ref
	l.hand().retag(groupsPath, own) // written, but not yet to be seen
	l.settle(keep, up)
	l.hand().retag(groupsPath, own, state.LedgerTags(late.ledger)...)

	losers, err := a.Recheck(t.Context(), []vpn.Owner{late.owner})
	if err != nil || !strings.Contains(losers[late.owner], "was claimed before, by VPNGateway/acme/dc2") {
		t.Errorf("losers %v, error %v", losers, err)
	}
	if o := l.look(prune, up); len(o.Ledgers) != 1 || len(changes(o, []wish{up})) > 0 {
		t.Errorf("left are the ledgers %v, and %d changes", o.Ledgers, len(changes(o, []wish{up})))
	}
}

// claim makes a group as a run does that does not see the other's yet.
func claim(t *testing.T, d *Driver, w wish) {
	t.Helper()
	if _, err := d.Locate(t.Context(), estate(w)); err != nil {
		t.Fatal(err)
	}
	var body struct {
		Group group `json:"security_group"`
	}
	_, err := d.call(t.Context(), http.MethodPost, groupsPath, map[string]any{"security_group": map[string]any{
		"name": state.Name(w.owner), "description": state.Description("prod", w.owner)}}, &body)
	if err == nil {
		err = d.tag(t.Context(), groupsPath, body.Group.ID, state.LedgerTags(w.ledger))
	}
	if err != nil {
		t.Fatal(err)
	}
	v := verb{Driver: d}
	v.Owner = w.owner
	v.note(resource.KindSecurityGroup, body.Group.ID)
}
