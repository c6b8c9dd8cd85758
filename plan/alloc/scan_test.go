package alloc_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/plan/alloc"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// Whatever the size of a subnet: the first link gets its host 3, as many links fit as
// it has hosts from there on, and the next one is refused with the figures.
func TestSubnetsOfAllSizes(t *testing.T) {
	for subnet, c := range map[string]struct {
		hosts       int
		first, last string
		why         string
	}{
		"10.0.0.0/24":        {251, "10.0.0.3", "10.0.0.253", "no address is free in 10.0.0.0/24 for a transit leg: 251 hosts, all taken"},
		"10.0.0.128/26":      {59, "10.0.0.131", "10.0.0.189", "no address is free in 10.0.0.128/26 for a transit leg: 59 hosts, all taken"},
		"10.0.0.0/23":        {507, "10.0.0.3", "10.0.1.253", "no address is free in 10.0.0.0/23 for a transit leg: 507 hosts, all taken"},
		"10.0.0.0/29":        {3, "10.0.0.3", "10.0.0.5", "no address is free in 10.0.0.0/29 for a transit leg: 3 hosts, all taken"},
		"10.0.0.0/30":        {0, "", "", "no address is free in 10.0.0.0/30 for a transit leg: it has none from its third host on"},
		"255.255.255.254/31": {0, "", "", "no address is free in 255.255.255.254/31 for a transit leg: it has none from its third host on"},
		"0.0.0.0/32":         {0, "", "", "no address is free in 0.0.0.0/32 for a transit leg: it has none from its third host on"},
		"fd00::/64":          {0, "", "", "no address is free in fd00::/64 for a transit leg: it has none from its third host on"},
	} {
		t.Run(subnet, func(t *testing.T) {
			var all []vpn.Link
			for i := range c.hosts + 1 {
				all = append(all, aLink(fmt.Sprintf("l%04d", i)))
			}
			in := links(all...)
			in.Subnet = prefix(subnet)
			clear(in.Reserved)
			in.Reserved[addr(subnet[:len(subnet)-3])] = "the network's"
			if c.hosts > 0 {
				in.Reserved[addr(c.last).Next()] = "the lock's"
			}
			got, problems := alloc.AssignLegs(in)
			want := []string{fmt.Sprintf("l%04d: %s", c.hosts, c.why)}
			if diff := cmp.Diff(want, messages(problems)); diff != "" || len(got) != c.hosts {
				t.Fatalf("%d ledgers, problems (-want +got):\n%s", len(got), diff)
			}
			if c.hosts > 0 {
				if first, last := got[all[0].Owner].TransitIP, got[all[c.hosts-1].Owner].TransitIP; first != addr(c.first) || last != addr(c.last) {
					t.Errorf("from %s to %s", first, last)
				}
			}
		})
	}
}
