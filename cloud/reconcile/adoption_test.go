package reconcile_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/cloud/simulator"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/state"
)

// adopted is a world whose gateways an operator made, and the estate that asks for them.
func adopted(t *testing.T) (*world, vpn.Estate) {
	t.Helper()
	w := newWorld(t, simulator.Options{})
	w.apply(renumbered(w), plan.Options{})
	return w, fromOperator(w)
}

// TestAdoption wants a world that an operator made to become what it would be if vpnctl
// had made it, with every address as it was, in which the next plan finds nothing to do.
func TestAdoption(t *testing.T) {
	w, e := adopted(t)
	p := w.plan(e, plan.Options{})
	for _, c := range p.Pending() {
		switch {
		case c.ID.Kind.Cloud() && c.After.Applied == nil && c.Action != plan.Adopt:
			t.Errorf("%s %s: %s", c.Action, c.ID, c.Reason)
		case c.ID.Kind.Cloud() && c.After.Applied == nil && !strings.Contains(c.Reason, "bnerd.net/uid="):
			t.Errorf("%s: the reason doesn't name the operator's tag: %s", c.ID, c.Reason)
		}
	}
	before := lasting(t, w)
	w.apply(e, plan.Options{})
	w.operated = nil // whatever they told stands in the ledgers now
	w.quiet(t, run{e, plan.Options{}}, "the adoption")
	if diff := cmp.Diff(before, lasting(t, w)); diff != "" {
		t.Errorf("what had to stay (-before +after):\n%s", diff)
	}
	for _, o := range snapshot(t, w) {
		if len(state.OperatorUIDs(o.Tags())) > 0 || strings.Contains(o.Text("description"), "operator") {
			t.Errorf("%s %s is still the operator's: %v", o.Kind, o.ID, o.Tags())
		}
	}
	want := newWorld(t, simulator.Options{})
	want.apply(renumbered(want), plan.Options{})
	want.apply(e, plan.Options{})
	if diff := cmp.Diff(want.look(), w.look()); diff != "" {
		t.Errorf("it isn't as if vpnctl had made it (-want +got):\n%s", diff)
	}
}

// lasting is what nobody may notice anything of: which objects there are, their addresses
// and attachments, and the routes.
func lasting(t *testing.T, w *world) map[string]any {
	t.Helper()
	all := map[string]any{}
	for _, o := range snapshot(t, w) {
		if o.Kind == "security-group-rule" {
			continue
		}
		for _, name := range []string{"fixed_ips", "mac_address", "device_id", "floating_ip_address", "port_id", "routes", "security_groups"} {
			if v := o.Attributes[name]; v != nil {
				all[o.Kind+" "+o.ID+" "+name] = v
			}
		}
		all[o.Kind+" "+o.ID] = true
	}
	return all
}
