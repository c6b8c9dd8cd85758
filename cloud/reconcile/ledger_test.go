package reconcile_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/cloud/reconcile/world"
	"github.com/vpnctl/vpnctl/cloud/simulator"
	"github.com/vpnctl/vpnctl/plan"
)

// TestADamagedLedgerFreesNothing has another hand damage the ledger of a gateway
// that runs, and a new gateway come that is first in the order: neither gets a
// range, and nothing of any other changes.
func TestADamagedLedgerFreesNothing(t *testing.T) {
	built := world.New(t, simulator.Options{})
	built.Apply(world.Estate(t), plan.Options{})
	first := world.Estate(t).Gateways[0].Owner
	group, port, tags := ledgerOf(t, built, first.String())
	without := func(part string) []string {
		return slices.DeleteFunc(slices.Clone(tags), func(tag string) bool { return strings.HasPrefix(tag, "vpn.bnerd.net/"+part) })
	}
	for name, damage := range map[string]func(c world.Client){
		"the service CIDR is lost": func(c world.Client) {
			c.Put("security-groups/"+group+"/tags", map[string]any{"tags": without("service-cidr=")})
		},
		"the virtual IPs are lost": func(c world.Client) {
			c.Put("security-groups/"+group+"/tags", map[string]any{"tags": without("vips.")})
		},
		"all tags are lost": func(c world.Client) { c.Put("security-groups/"+group+"/tags", map[string]any{"tags": []string{}}) },
		"the group is gone": func(c world.Client) {
			c.Put("ports/"+port, map[string]any{"port": map[string]any{"security_groups": []string{}}})
			c.Remove("security-groups/" + group)
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := built.Copy(t)
			damage(world.NewClient(w))
			e := world.Estate(t)
			next := e.Gateways[0]
			next.Owner.Name, next.Manifests = "aaa", nil
			next.Exposures, next.ReverseExposures, next.Peers = nil, nil, nil
			e.Gateways = append(e.Gateways, next)
			for _, o := range []plan.Options{{}, {Prune: true}} {
				p := w.Plan(e, o)
				for _, c := range p.Pending() {
					t.Errorf("%s %s: %s", c.Action, c.ID, c.Reason)
				}
				var refused []string
				for _, r := range p.Refusals {
					refused = append(refused, r.Owner.String())
					if r.Owner == next.Owner && !strings.Contains(r.Message, "an address range can't be chosen while ") {
						t.Errorf("%s: %s", r.Owner, r.Message)
					}
				}
				want := []string{next.Owner.String(), first.String()}
				if diff := cmp.Diff(want, slices.Compact(refused)); diff != "" {
					t.Errorf("refused (-want +got):\n%s%v", diff, p.Refusals)
				}
			}
		})
	}
}

// ledgerOf is the group of an owner, its tags, and the port.
func ledgerOf(t *testing.T, w *world.World, owner string) (group, port string, tags []string) {
	t.Helper()
	for _, o := range world.Snapshot(t, w) {
		switch {
		case !slices.Contains(o.Tags(), "vpn.bnerd.net/owner="+owner):
		case o.Kind == "security-group":
			group, tags = o.ID, o.Tags()
		case o.Kind == "port":
			port = o.ID
		}
	}
	if group == "" || port == "" {
		t.Fatalf("%s has no group or no port", owner)
	}
	return group, port, tags
}
