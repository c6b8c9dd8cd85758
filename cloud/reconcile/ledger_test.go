package reconcile_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/cloud/simulator"
	"github.com/vpnctl/vpnctl/plan"
)

// TestADamagedLedgerFreesNothing has another hand damage the ledger of a gateway
// that runs, and a new gateway come that is first in the order: neither gets a
// range, and nothing of any other changes.
func TestADamagedLedgerFreesNothing(t *testing.T) {
	built := newWorld(t, simulator.Options{})
	built.apply(estate(t), plan.Options{})
	first := estate(t).Gateways[0].Owner
	group, port, tags := ledgerOf(t, built, first.String())
	without := func(part string) []string {
		return slices.DeleteFunc(slices.Clone(tags), func(tag string) bool { return strings.HasPrefix(tag, "vpn.bnerd.net/"+part) })
	}
	for name, damage := range map[string]func(c client){
		"the service CIDR is lost": func(c client) {
			c.put("security-groups/"+group+"/tags", map[string]any{"tags": without("service-cidr=")})
		},
		"the virtual IPs are lost": func(c client) {
			c.put("security-groups/"+group+"/tags", map[string]any{"tags": without("vips.")})
		},
		"all tags are lost": func(c client) { c.put("security-groups/"+group+"/tags", map[string]any{"tags": []string{}}) },
		"the group is gone": func(c client) {
			c.put("ports/"+port, map[string]any{"port": map[string]any{"security_groups": []string{}}})
			c.send(http.MethodDelete, simulated+"/network/v2.0/security-groups/"+group, nil).Body.Close()
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := built.copy(t)
			damage(newClient(w))
			e := estate(t)
			next := e.Gateways[0]
			next.Owner.Name, next.Manifests = "aaa", nil
			next.Exposures, next.ReverseExposures, next.Peers = nil, nil, nil
			e.Gateways = append(e.Gateways, next)
			for _, o := range []plan.Options{{}, {Prune: true}} {
				p := w.plan(e, o)
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
func ledgerOf(t *testing.T, w *world, owner string) (group, port string, tags []string) {
	t.Helper()
	for _, o := range snapshot(t, w) {
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
