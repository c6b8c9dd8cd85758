package reconcile_test

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/cloud/reconcile/world"
	"github.com/vpnctl/vpnctl/cloud/simulator"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// TestRangesOfLinks: one that overlaps the transit subnet, or the range that a gateway has
// outside of the pool, is refused by name; and where a gateway leads back to people who may
// not use its reverse exposures, the plan says so.
func TestRangesOfLinks(t *testing.T) {
	const callers = "may use reverse exposures of acme/dc1, globex/remote"
	outside := func(e *vpn.Estate) { e.ServiceCIDRPool = netip.MustParsePrefix("100.99.0.0/16") }
	sources := func(all ...string) func(e *vpn.Estate) {
		return func(e *vpn.Estate) {
			e.InternalSourceCIDRs = nil
			for _, s := range all {
				e.InternalSourceCIDRs = append(e.InternalSourceCIDRs, netip.MustParsePrefix(s))
			}
		}
	}
	for sentence, c := range map[string]struct {
		cidr   string
		edit   func(e *vpn.Estate)
		refuse string
		notice string
	}{
		"a range that nobody has":                    {"10.250.0.0/16", sources("10.250.0.0/16"), "", ""},
		"the transit subnet":                         {"10.254.0.0/24", sources("10.254.0.0/24"), "spec.serviceClusterCIDR: 10.254.0.0/24 overlaps 10.254.0.0/24, the transit subnet", ""},
		"a range around the transit subnet":          {"10.254.0.0/16", sources("10.254.0.0/16"), "spec.serviceClusterCIDR: 10.254.0.0/16 overlaps 10.254.0.0/24, the transit subnet", ""},
		"a part of it":                               {"10.254.0.64/26", sources("10.254.0.0/24"), "spec.serviceClusterCIDR: 10.254.0.64/26 overlaps 10.254.0.0/24, the transit subnet", ""},
		"what a gateway was given from another pool": {"100.64.0.0/24", outside, "spec.serviceClusterCIDR: 100.64.0.0/24 overlaps 100.64.0.0/24, the service CIDR of acme/dc1", ""},
		"people who may not call":                    {"10.250.0.0/16", sources("10.251.0.0/16"), "", "nobody in 10.250.0.0/16 " + callers},
		"people some of whom may call":               {"10.250.0.0/16", sources("10.250.7.0/24"), "", "only a part of 10.250.0.0/16 " + callers},
		"people in a wider range":                    {"10.250.0.0/16", sources("10.0.0.0/8"), "", ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			w := world.New(t, simulator.Options{})
			w.Apply(unlinked(t), plan.Options{})
			e := linked(t)
			e.Links[0].CIDR = netip.MustParsePrefix(c.cidr)
			c.edit(&e)
			p := w.Plan(e, plan.Options{})
			refusal, notice := "", ""
			for _, r := range p.Refusals {
				if r.Owner == north {
					refusal += r.Message
				}
			}
			for _, n := range p.Notices {
				if n.Owner == north && strings.Contains(n.Hint, "internalSourceCIDRs") {
					notice += n.Message
				}
			}
			if diff := cmp.Diff([]string{c.refuse, c.notice}, []string{refusal, notice}); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestNobodyIsToldOfCallersWithoutAWayBack: a customer's link that no gateway names leads
// back to none.
func TestNobodyIsToldOfCallersWithoutAWayBack(t *testing.T) {
	w := world.New(t, simulator.Options{})
	for want, e := range []vpn.Estate{across(w), acrossNamed(w)} {
		got := 0
		for _, n := range w.Plan(e, plan.Options{}).Notices {
			if strings.Contains(n.Message, "reverse exposures") {
				got++
			}
		}
		if got != want {
			t.Errorf("%d notices, want %d", got, want)
		}
	}
}
