package state_test

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/plan/alloc"
	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/state"
)

var dc1 = vpn.Owner{Kind: vpn.KindVPNGateway, Namespace: "acme", Name: "dc1"}

func ledger() alloc.Ledger {
	return alloc.Ledger{
		Estate: "prod", Owner: dc1, Protocol: vpn.WireGuard, ServiceCIDR: netip.MustParsePrefix("100.64.3.0/24"),
		VirtualIPs: map[string]byte{"web": 10}, Addresses: map[string]byte{"ina": 199}, Peers: []string{"ina"},
		Grants: true, FloatingIP: "fip-1", Applied: "h1", MovingFrom: []netip.Prefix{netip.MustParsePrefix("100.64.2.0/24"), netip.MustParsePrefix("192.168.9.0/24")}, Draining: time.Date(2026, 3, 1, 12, 0, 0, 5, time.UTC),
		Adopting: "uid-1",
	}
}

func TestLedgerTags(t *testing.T) {
	want := []string{
		"vpn.bnerd.net/addresses.1=ina:199",
		"vpn.bnerd.net/adopting=uid-1",
		"vpn.bnerd.net/applied=h1",
		"vpn.bnerd.net/authorization=grants",
		"vpn.bnerd.net/check=e5a232c66edc",
		"vpn.bnerd.net/draining=2026-03-01T12:00:00.000000005Z",
		"vpn.bnerd.net/estate=prod",
		"vpn.bnerd.net/floating-ip=fip-1",
		"vpn.bnerd.net/managed=vpnctl",
		"vpn.bnerd.net/moving-from=100.64.2.0/24",
		"vpn.bnerd.net/moving-from=192.168.9.0/24",
		"vpn.bnerd.net/owner=VPNGateway/acme/dc1",
		"vpn.bnerd.net/peers.1=ina",
		"vpn.bnerd.net/protocol=wireguard",
		"vpn.bnerd.net/service-cidr=100.64.3.0/24",
		"vpn.bnerd.net/vips.1=web:10",
	}
	if diff := cmp.Diff(want, state.LedgerTags(ledger())); diff != "" {
		t.Errorf("tags (-want +got):\n%s", diff)
	}
}

func TestReadLedgerIsTheInverse(t *testing.T) {
	bare := alloc.Ledger{Estate: "prod", Owner: vpn.Owner{Kind: vpn.KindClusterLink, Name: "north"}}
	living := ledger()
	living.Applied, living.MovingFrom, living.Draining, living.Adopting = "", nil, time.Time{}, ""
	for _, want := range []alloc.Ledger{ledger(), living, bare} {
		got, ours, err := state.ReadLedger(append(state.LedgerTags(want), "team=network"))
		if err != nil || !ours {
			t.Fatalf("ours %v, error %v", ours, err)
		}
		if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b netip.Prefix) bool { return a == b })); diff != "" {
			t.Errorf("ledger (-want +got):\n%s", diff)
		}
	}
}

func TestReadLedgerRefuses(t *testing.T) {
	without := func(part string) []string {
		var tags []string
		for _, tag := range state.LedgerTags(ledger()) {
			if !strings.Contains(tag, part) {
				tags = append(tags, tag)
			}
		}
		return tags
	}
	for sentence, c := range map[string]struct {
		tags []string
		want string
	}{
		"a group that lost its owner":        {without("owner="), "ownership tags are incomplete or doubled"},
		"a group that lost its estate":       {without("estate="), "ownership tags are incomplete or doubled"},
		"a group with two owners":            {append(without("none"), "vpn.bnerd.net/owner=VPNGateway/acme/dc2"), "ownership tags are incomplete or doubled"},
		"an owner of an unknown kind":        {append(without("owner="), "vpn.bnerd.net/owner=Proxy/acme/dc2"), "ownership tags are incomplete or doubled"},
		"a tag of a newer vpnctl":            {append(without("none"), "vpn.bnerd.net/shard=1"), "newer vpnctl"},
		"a tag under our prefix without '='": {append(without("none"), "vpn.bnerd.net/shard"), "newer vpnctl"},
		"a lost part of the ledger":          {without("authorization="), "entry authorization is missing"},
		"a lost part that may be absent":     {without("vips."), "check does not fit"},
		"a lost check":                       {without("check="), "entry check is missing"},
		"two applied hashes":                 {append(without("none"), "vpn.bnerd.net/applied=h2"), "applied stands there twice"},
		"a range moved from that is none":    {append(without("none"), "vpn.bnerd.net/moving-from=100.64.7.7/24"), "no range"},
		"a draining that is no time":         {append(without("draining="), "vpn.bnerd.net/draining=soon"), "no time"},
	} {
		t.Run(sentence, func(t *testing.T) {
			l, ours, err := state.ReadLedger(c.tags)
			if !ours || err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("ours %v, error %v, want one with %q", ours, err, c.want)
			}
			if l.ServiceCIDR != ledger().ServiceCIDR {
				t.Errorf("the range is not known: %v", l.ServiceCIDR)
			}
		})
	}
}

func TestALedgerOfAnotherHandIsNotOurs(t *testing.T) {
	for sentence, tags := range map[string][]string{
		"no tags":                nil,
		"all of ours but one":    slices.DeleteFunc(state.LedgerTags(ledger()), func(t string) bool { return t == state.ManagedTag }),
		"another program's mark": append(state.Tags("prod", dc1)[:1:1], "vpn.bnerd.net/managed=other"),
	} {
		t.Run(sentence, func(t *testing.T) {
			l, ours, err := state.ReadLedger(tags)
			if diff := cmp.Diff(alloc.Ledger{}, l, cmp.Comparer(func(a, b netip.Prefix) bool { return a == b })); ours || err != nil || diff != "" {
				t.Errorf("ours %v, error %v, ledger (-want +got):\n%s", ours, err, diff)
			}
		})
	}
}

func TestAGatewayWithoutAllocationsLostThem(t *testing.T) {
	for sentence, c := range map[string]struct {
		owner vpn.Owner
		want  bool // that it can be read
	}{
		"a link has no range":   {vpn.Owner{Kind: vpn.KindClusterLink, Name: "north"}, true},
		"a gateway has a range": {dc1, false},
	} {
		t.Run(sentence, func(t *testing.T) {
			if l, ours, err := state.ReadLedger(state.Tags("prod", c.owner)); !ours || l.Owner != c.owner || (err == nil) != c.want {
				t.Errorf("owner %v, ours %v, error %v", l.Owner, ours, err)
			}
		})
	}
}

func TestWhatIsOurs(t *testing.T) {
	for sentence, c := range map[string]struct {
		tags []string
		ours bool
	}{
		"all three tags":                      {state.Tags("prod", dc1), true},
		"foreign tags beside them":            {append(state.Tags("prod", dc1), "a", "vpn.example.net/owner=x"), true},
		"no tags":                             {nil, false},
		"the operator's tag":                  {[]string{"vpn.bnerd.net/uid=6f1"}, false},
		"no managed tag":                      {[]string{"vpn.bnerd.net/estate=prod", "vpn.bnerd.net/owner=VPNGateway/acme/dc1"}, false},
		"another program's managed tag":       {[]string{"vpn.bnerd.net/estate=prod", "vpn.bnerd.net/owner=VPNGateway/acme/dc1", "vpn.bnerd.net/managed=other"}, false},
		"an empty estate":                     {state.Tags("", dc1), false},
		"a namespaced owner without its name": {state.Tags("prod", vpn.Owner{Kind: vpn.KindVPNGateway, Namespace: "acme"}), false},
	} {
		t.Run(sentence, func(t *testing.T) {
			estate, o, ours := state.ReadOwner(c.tags)
			if ours != c.ours || ours && (estate != "prod" || o != dc1) || !ours && (estate != "" || !o.IsZero()) {
				t.Errorf("read %q, %v, %v", estate, o, ours)
			}
		})
	}
}

func TestMerge(t *testing.T) {
	existing := []string{"zone=b", "vpn.bnerd.net/uid=6f1", "vpn.bnerd.net/applied=old", "zone=b", "vpn.bnerd.network/x=1"}
	got := state.Merge(existing, []string{"vpn.bnerd.net/managed=vpnctl", "vpn.bnerd.net/applied=new"})
	want := []string{"vpn.bnerd.net/applied=new", "vpn.bnerd.net/managed=vpnctl", "vpn.bnerd.network/x=1", "zone=b"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("tags (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, state.Merge(got, state.Merge(nil, want[:2]))); diff != "" {
		t.Errorf("a second time (-want +got):\n%s", diff)
	}
}

func TestAnEntryAndThePrefixMakeTheLongestTag(t *testing.T) {
	if got := len(state.Prefix) + alloc.EntryLimit; got != 255 {
		t.Errorf("the longest tag has %d characters", got)
	}
}
