package reconcile_test

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/cloud/reconcile/world"
	"github.com/vpnctl/vpnctl/cloud/simulator"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/alloc"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// alone is an operator's world of its first gateway.
func alone(t *testing.T) (*world.World, vpn.Estate) {
	t.Helper()
	w, e := adopted(t)
	w.Operated, e.Gateways = w.Operated[:1], e.Gateways[:1]
	return w, e
}

// TestAdoptionGoesOn cuts a takeover off at every call. Once the ledger is written, the
// next run needs no file to go on with it, and makes nothing a second time.
func TestAdoptionGoesOn(t *testing.T) {
	w, e := alone(t)
	whole := w.Copy(t)
	whole.Apply(e, plan.Options{})
	whole.Heal()
	want, begun := whole.Look(), 0
	for k := 1; ; k++ {
		c := w.Copy(t)
		c.Disturb(func(n int, _ *http.Request) simulator.Fault {
			if n >= k {
				return simulator.Fault{Do: simulator.Stop}
			}
			return simulator.Fault{}
		})
		if c.Run(t.Context(), e, plan.Options{}, 1) == nil {
			break
		}
		c.Heal()
		if !slices.ContainsFunc(world.Snapshot(t, c).Of("security-group"), func(o simulator.Object) bool {
			return slices.Contains(o.Tags(), "vpn.bnerd.net/adopting="+uid(0))
		}) {
			continue
		}
		begun++
		c.Operated = nil
		c.Apply(e, plan.Options{})
		c.Heal()
		if diff := cmp.Diff(want, c.Look()); diff != "" {
			t.Errorf("cut off at call %d (-whole +recovered):\n%s", k, diff)
		}
	}
	if begun < 5 {
		t.Errorf("only %d runs were cut off in the middle", begun)
	}
}

// TestAdoptionLeavesOthersAlone: what carries another UID, and what other hands added to
// the operator's objects, is there afterwards as it was, and printed as kept.
func TestAdoptionLeavesOthersAlone(t *testing.T) {
	w, e := alone(t)
	c := world.NewClient(w)
	group, port := operators(w, "security-group"), operators(w, "port")
	ssh := c.Post("security-group-rules", "security_group_rule", map[string]any{
		"security_group_id": group, "direction": "ingress", "ethertype": "IPv4", "protocol": "tcp", "port_range_min": 22, "port_range_max": 22,
	})
	c.Put("security-groups/"+group+"/tags", map[string]any{"tags": []string{"team=network", "vpn.bnerd.net/uid=" + uid(0)}})
	c.Put("ports/"+port, map[string]any{"port": map[string]any{"allowed_address_pairs": []map[string]any{
		{"ip_address": "100.64.40.0/24"}, {"ip_address": "10.9.9.9"}}}})
	before := others(t, w, uid(0))
	p := w.Plan(e, plan.Options{})
	var kept []string
	for _, k := range p.Kept {
		kept = append(kept, k.What)
	}
	if diff := cmp.Diff([]string{"allowed address pair 10.9.9.9", "rule ingress tcp 22 anywhere"}, slices.Sorted(slices.Values(kept))); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}
	w.Apply(e, plan.Options{})
	if diff := cmp.Diff(before, others(t, w, uid(0))); diff != "" {
		t.Errorf("objects of other UIDs (-before +after):\n%s", diff)
	}
	for _, o := range world.Snapshot(t, w) {
		switch o.ID {
		case group:
			if !slices.Contains(o.Tags(), "team=network") {
				t.Errorf("another hand's tag went: %v", o.Tags())
			}
		case port:
			if pairs := o.Attributes["allowed_address_pairs"].([]any); len(pairs) != 2 {
				t.Errorf("allowed address pairs: %v", pairs)
			}
		}
	}
	if !slices.ContainsFunc(world.Snapshot(t, w).Of("security-group-rule"), func(o simulator.Object) bool { return o.ID == ssh }) {
		t.Error("another hand's rule went")
	}
}

// others are the objects with an operator's tag of any UID but one.
func others(t *testing.T, w *world.World, but string) map[string]map[string]any {
	t.Helper()
	all := map[string]map[string]any{}
	for _, o := range world.Snapshot(t, w) {
		if slices.ContainsFunc(o.Tags(), func(tag string) bool { return strings.Contains(tag, "/uid=") && !strings.HasSuffix(tag, but) }) {
			all[o.ID] = o.Attributes
		}
	}
	if len(all) < 5 {
		t.Fatalf("only %d objects carry other UIDs", len(all))
	}
	return all
}

// TestAdoptionOfAPinnedAddress: the address that an operator allocated, pinned by the
// manifest now, is the customer's from then on.
func TestAdoptionOfAPinnedAddress(t *testing.T) {
	w, e := alone(t)
	float := operators(w, "floating-ip")
	e.Gateways[0].FloatingIP = w.Operated[0].FloatingIP
	w.Apply(e, plan.Options{})
	w.Operated = nil
	quiet(t, w, run{e, plan.Options{}}, "the adoption")
	for _, o := range world.Snapshot(t, w).Of("floating-ip") {
		if o.ID == float && (len(o.Tags()) > 0 || o.Text("port_id") == "") {
			t.Errorf("tags %v, port %q", o.Tags(), o.Text("port_id"))
		}
	}
}

// TestAdoptionCutOffAndTheManifestGone: what is half taken over isn't removed.
func TestAdoptionCutOffAndTheManifestGone(t *testing.T) {
	w, e := alone(t)
	w.Disturb(func(_ int, r *http.Request) simulator.Fault {
		if r.Method == http.MethodPut && strings.Contains(r.URL.Path, "/ports/") {
			return simulator.Fault{Do: simulator.Stop}
		}
		return simulator.Fault{}
	})
	if w.Run(t.Context(), e, plan.Options{}, 1) == nil {
		t.Fatal("it was not cut off")
	}
	w.Heal()
	gone := e
	gone.Gateways = nil
	p := w.Plan(gone, plan.Options{Prune: true, AllowEmpty: true, PodsGone: true})
	if len(p.Pending()) > 0 || len(p.Refusals) != 1 || !strings.Contains(p.Refusals[0].Message, "was cut off") {
		t.Fatalf("pending %v, refusals %v", p.Pending(), p.Refusals)
	}
	w.Apply(e, plan.Options{})
	for range 2 { // files first
		w.Apply(gone, plan.Options{Prune: true, AllowEmpty: true, PodsGone: true})
	}
	for _, o := range world.Snapshot(t, w) {
		if _, ours := ownerOf(o); ours {
			t.Errorf("%s %s is left", o.Kind, o.ID)
		}
	}
}

// TestRangesOfAnOperatorAreTaken: those of gateways that can't be taken over, and of those
// that no manifest asks for.
func TestRangesOfAnOperatorAreTaken(t *testing.T) {
	w, e := world.New(t, simulator.Options{}), world.Estate(t)
	w.Operated = []alloc.Operated{
		{Owner: e.Gateways[0].Owner, UID: uid(0), ServiceCIDR: netip.MustParsePrefix("100.64.0.0/24")},
		{Owner: vpn.Owner{Kind: vpn.KindIPsecGateway, Namespace: "zeta", Name: "elsewhere"}, UID: uid(1), ServiceCIDR: netip.MustParsePrefix("100.64.1.0/24")},
	}
	p := w.Plan(e, plan.Options{})
	given := 0
	for _, c := range p.Pending() {
		if c.After == nil || c.After.SecurityGroup == nil {
			continue
		}
		given++
		for _, entry := range c.After.SecurityGroup.Ledger {
			if entry.Value == "100.64.0.0/24" || entry.Value == "100.64.1.0/24" {
				t.Errorf("%s gets %s", c.Owner, entry.Value)
			}
		}
	}
	if given != len(e.Gateways)-1 {
		t.Errorf("%d gateways are made: %v", given, p.Refusals)
	}
}

// TestLookingForAnOperatorsObjectsIsBounded: by the length of a URL, not by gateways, and
// nothing once all is taken over.
func TestLookingForAnOperatorsObjectsIsBounded(t *testing.T) {
	w := large(t)
	e := many(t, 200)
	reads := func() (all int) {
		w.Sim.Reset()
		w.Plan(e, plan.Options{})
		for _, c := range w.Sim.Calls() {
			if c.Keystone() {
				continue
			}
			all++
			if len(c.Path)+len(c.Query) > 8000 {
				t.Errorf("%s is called with %d characters", c.Path, len(c.Query))
			}
		}
		return all
	}
	none := reads()
	for i, g := range e.Gateways {
		w.Operated = append(w.Operated, alloc.Operated{Owner: g.Owner, UID: uid(i), ServiceCIDR: netip.MustParsePrefix("100.64.0.0/24")})
	}
	if some := reads(); some <= none || some > none+20 {
		t.Errorf("%d calls without an operator, %d with one of 200 gateways", none, some)
	}
	w, e = alone(t)
	before := w.Operated
	w.Apply(e, plan.Options{})
	with := reads()
	w.Operated = nil
	if without := reads(); with != without || with > 6 {
		t.Errorf("%d calls with the file %v, %d without", with, before, without)
	}
}
