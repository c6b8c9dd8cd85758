package alloc_test

import (
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/plan/alloc"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

func TestWhatALedgerRecords(t *testing.T) {
	open := func(g *vpn.Gateway) { g.Open = true }
	pinned := func(g *vpn.Gateway) { g.FloatingIP = addr("203.0.113.9") }
	byGrants := func(l *alloc.Ledger) { l.Grants = true }
	customers := func(l *alloc.Ledger) { l.FloatingIP = "fip-1" }
	for sentence, c := range map[string]struct {
		gateway vpn.Gateway
		was     alloc.Ledger
		pins    map[netip.Addr]string
		want    alloc.Ledger
	}{
		"peers are recorded by name in order": {
			gateway: ipsec("a", granted("zeta"), granted("alpha")),
			want:    alloc.Ledger{Peers: []string{"alpha", "zeta"}, Grants: true},
		},
		"one peer without a block is allowed by default": {
			gateway: ipsec("a", site("one")),
			want:    alloc.Ledger{Peers: []string{"one"}},
		},
		"one peer with a block, even an empty one, is not": {
			gateway: ipsec("a", granted("one")),
			want:    alloc.Ledger{Peers: []string{"one"}, Grants: true},
		},
		"two peers without blocks are denied by default": {
			gateway: ipsec("a", site("one"), site("two")),
			want:    alloc.Ledger{Peers: []string{"one", "two"}, Grants: true},
		},
		"an open gateway has no grants": {
			gateway: ipsec("a", open, site("one"), site("two")),
			want:    alloc.Ledger{Peers: []string{"one", "two"}},
		},
		"a new gateway without peers denies nobody": {
			gateway: ipsec("a"),
			want:    alloc.Ledger{},
		},
		"a gateway that lost its last peer stays with grants": {
			gateway: ipsec("a"),
			was:     had("a", "100.64.0.0/24", byGrants),
			want:    alloc.Ledger{Grants: true},
		},
		"a pinned floating IP is recorded by its ID": {
			gateway: ipsec("a", pinned),
			pins:    map[netip.Addr]string{addr("203.0.113.9"): "fip-9"},
			want:    alloc.Ledger{FloatingIP: "fip-9"},
		},
		"another pinned floating IP takes the place of the first": {
			gateway: ipsec("a", pinned),
			was:     had("a", "100.64.0.0/24", customers),
			pins:    map[netip.Addr]string{addr("203.0.113.9"): "fip-9"},
			want:    alloc.Ledger{FloatingIP: "fip-9"},
		},
		"a pin removed leaves the floating IP the customer's": {
			gateway: ipsec("a"),
			was:     had("a", "100.64.0.0/24", customers),
			pins:    map[netip.Addr]string{},
			want:    alloc.Ledger{FloatingIP: "fip-1"},
		},
		"where nobody looked for floating IPs the record stays": {
			gateway: ipsec("a", pinned),
			was:     had("a", "100.64.0.0/24", customers),
			want:    alloc.Ledger{FloatingIP: "fip-1"},
		},
		"what was observed of the group and of the last apply comes along, draining ends": {
			gateway: ipsec("a"),
			was: had("a", "100.64.0.0/24", created(3), appliedOnce, func(l *alloc.Ledger) {
				l.Draining = l.Created
			}),
			want: had("a", "100.64.0.0/24", created(3), appliedOnce),
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			in := alloc.Input{Estate: estate(c.gateway), Pins: c.pins}
			if c.was.Estate != "" {
				in.Ledgers = append(in.Ledgers, c.was)
			}
			c.want.Estate, c.want.Owner, c.want.Protocol, c.want.ServiceCIDR = "prod", owner("a"), vpn.IPsec, prefix("100.64.0.0/24")
			c.want.Ref = c.was.Ref
			c.want.Created = c.was.Created
			got, problems := alloc.Assign(in)
			if len(problems) > 0 {
				t.Fatalf("problems: %v", problems)
			}
			if diff := cmp.Diff(c.want, got[owner("a")], compare); diff != "" {
				t.Errorf("ledger (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAPinnedFloatingIPThatIsNotThereIsAProblem(t *testing.T) {
	g := ipsec("a", func(g *vpn.Gateway) { g.FloatingIP = addr("203.0.113.9") })
	got, problems := alloc.Assign(alloc.Input{Estate: estate(g), Pins: map[netip.Addr]string{}})
	if len(got) != 0 {
		t.Errorf("a ledger in spite of the problem: %v", got)
	}
	want := []string{"a: floating IP 203.0.113.9 is pinned, but the project has none with that address"}
	if diff := cmp.Diff(want, messages(problems)); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}
