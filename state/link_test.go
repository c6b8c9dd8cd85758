package state_test

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/plan/alloc"
	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/state"
)

var (
	north = vpn.Owner{Kind: vpn.KindClusterLink, Name: "north"}

	sameAddresses = cmp.Options{
		cmp.Comparer(func(a, b netip.Prefix) bool { return a == b }),
		cmp.Comparer(func(a, b netip.Addr) bool { return a == b }),
	}
)

// link is one in our own project that has taken over a leg.
func link() alloc.LinkLedger {
	return alloc.LinkLedger{
		Estate: "prod", Owner: north, CIDR: netip.MustParsePrefix("10.40.0.0/16"), TransitIP: netip.MustParseAddr("10.0.0.3"), Adopted: "port-1",
		Applied: "h1", Leg: "port-1", LegAddress: netip.MustParseAddr("10.0.0.3"),
	}
}

// crossing is one into a customer's project, whose side was given up.
func crossing() alloc.LinkLedger {
	l := link()
	l.TransitIP, l.Adopted, l.Customer, l.Policy, l.Abandoned = netip.Addr{}, "", "c0ffee", "rbac-1", true
	return l
}

func TestLinkTags(t *testing.T) {
	for sentence, c := range map[string]struct {
		ledger alloc.LinkLedger
		want   []string
	}{
		"in our own project": {link(), []string{
			"vpn.bnerd.net/adopted=port-1",
			"vpn.bnerd.net/applied=h1",
			"vpn.bnerd.net/check=661ce69d4303",
			"vpn.bnerd.net/estate=prod",
			"vpn.bnerd.net/leg=port-1@10.0.0.3",
			"vpn.bnerd.net/link-cidr=10.40.0.0/16",
			"vpn.bnerd.net/managed=vpnctl",
			"vpn.bnerd.net/owner=ClusterLink/north",
			"vpn.bnerd.net/transit-ip=10.0.0.3",
		}},
		"into a customer's project": {crossing(), []string{
			"vpn.bnerd.net/applied=h1",
			"vpn.bnerd.net/check=56e427f21003",
			"vpn.bnerd.net/customer-project=c0ffee",
			"vpn.bnerd.net/customer-side=abandoned",
			"vpn.bnerd.net/estate=prod",
			"vpn.bnerd.net/leg=port-1@10.0.0.3",
			"vpn.bnerd.net/link-cidr=10.40.0.0/16",
			"vpn.bnerd.net/managed=vpnctl",
			"vpn.bnerd.net/owner=ClusterLink/north",
			"vpn.bnerd.net/policy=rbac-1",
		}},
	} {
		t.Run(sentence, func(t *testing.T) {
			if diff := cmp.Diff(c.want, state.LinkTags(c.ledger)); diff != "" {
				t.Errorf("tags (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReadLinkIsTheInverse(t *testing.T) {
	for sentence, change := range map[string]func(*alloc.LinkLedger){
		"all of it":                        func(*alloc.LinkLedger) {},
		"before anything is made":          func(l *alloc.LinkLedger) { l.Applied, l.Leg, l.LegAddress, l.Policy = "", "", netip.Addr{}, "" },
		"a leg whose address nobody noted": func(l *alloc.LinkLedger) { l.LegAddress = netip.Addr{} },
		"a policy that is being made":      func(l *alloc.LinkLedger) { l.Policy = alloc.PolicyPending },
		"a policy of ours alone":           func(l *alloc.LinkLedger) { l.Policy, l.Abandoned = "rbac-2", false },
	} {
		t.Run(sentence, func(t *testing.T) {
			for _, want := range []alloc.LinkLedger{link(), crossing()} {
				change(&want)
				tags := append(state.LinkTags(want), "team=network")
				slices.Reverse(tags)
				got, ours, err := state.ReadLink(tags)
				if err != nil || !ours {
					t.Fatalf("ours %v, error %v", ours, err)
				}
				if diff := cmp.Diff(want, got, sameAddresses); diff != "" {
					t.Errorf("ledger (-want +got):\n%s", diff)
				}
			}
		})
	}
}

func TestTheLongestLinkFitsItsTags(t *testing.T) {
	l := crossing()
	l.Customer, l.Adopted = strings.Repeat("c", alloc.MaxProject), strings.Repeat("p", 64)
	l.Policy, l.Leg, l.LegAddress = strings.Repeat("r", 64), l.Adopted, netip.MustParseAddr("255.255.255.255")
	for _, tag := range state.LinkTags(l) {
		if len(tag) > 255 {
			t.Errorf("%s has %d characters", tag, len(tag))
		}
	}
	if got, _, err := state.ReadLink(state.LinkTags(l)); err != nil || !cmp.Equal(l, got, sameAddresses) {
		t.Errorf("read %+v, error %v", got, err)
	}
}

func TestReadLinkRefuses(t *testing.T) {
	without := func(part string) []string {
		return slices.DeleteFunc(state.LinkTags(link()), func(t string) bool { return strings.Contains(t, part) })
	}
	with := func(part, tag string) []string { return append(without(part), "vpn.bnerd.net/"+tag) }
	const none = "no tag has this"
	for sentence, c := range map[string]struct {
		tags []string
		want string
	}{
		"a group that lost its owner":        {without("owner="), "ownership tags are incomplete or doubled"},
		"a group with two estates":           {with(none, "estate=lab"), "ownership tags are incomplete or doubled"},
		"a group of a gateway":               {with("owner=", "owner=VPNGateway/acme/dc1"), "the group is VPNGateway/acme/dc1's, which is no link"},
		"a group without allocations":        {state.Tags("prod", north), "entry link-cidr is missing, read nothing"},
		"a tag of a newer vpnctl":            {with(none, "shard=1"), "newer vpnctl"},
		"a tag under our prefix without '='": {with(none, "shard"), "newer vpnctl"},
		"a record of a gateway":              {with(none, "draining=2026-03-01T12:00:00Z"), "newer vpnctl"},
		"a lost address":                     {without("transit-ip="), "entry transit-ip is missing"},
		"a lost adoption":                    {without("adopted="), "check does not fit"},
		"a lost check":                       {without("check="), "entry check is missing"},
		"two applied hashes":                 {with(none, "applied=h2"), "applied stands there twice"},
		"two legs":                           {with(none, "leg=port-2@10.0.0.4"), "leg stands there twice"},
		"a leg on no address":                {with("leg=", "leg=port-1@"), `leg="port-1@" is not id@address`},
		"a leg on an IPv6 address":           {with("leg=", "leg=port-1@fd00::3"), "is not id@address"},
		"a leg without an ID":                {with("leg=", "leg=@10.0.0.3"), "is not id@address"},
		"a leg of two addresses":             {with("leg=", "leg=port-1@10.0.0.3@10.0.0.4"), "is not id@address"},
		"a policy that is no ID":             {with(none, "policy=a;b"), `policy="a;b" is no ID`},
		"a customer's side of another state": {with(none, "customer-side=asleep"), "not written as vpnctl writes them"},
		"an empty record":                    {with("applied=", "applied="), "not written as vpnctl writes them"},
	} {
		t.Run(sentence, func(t *testing.T) {
			l, ours, err := state.ReadLink(c.tags)
			if !ours || err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("ours %v, error %v, want one with %q", ours, err, c.want)
			}
			if lost := len(c.tags) == 3 || strings.Contains(c.want, "transit-ip"); !lost && l.TransitIP != link().TransitIP {
				t.Errorf("the address is not known: %v", l.TransitIP)
			}
		})
	}
}

func TestALinkOfAnotherHandIsNotOurs(t *testing.T) {
	tags := slices.DeleteFunc(state.LinkTags(link()), func(t string) bool { return t == state.ManagedTag })
	l, ours, err := state.ReadLink(tags)
	if diff := cmp.Diff(alloc.LinkLedger{}, l, sameAddresses); ours || err != nil || diff != "" {
		t.Errorf("ours %v, error %v, ledger (-want +got):\n%s", ours, err, diff)
	}
}

// Who lists the groups of all owners reads gateways' ledgers first, and learns of a
// link's whose it is, whatever else stands there.
func TestReadLedgerKnowsWhoseALinkIs(t *testing.T) {
	want := alloc.Ledger{Estate: "prod", Owner: north}
	for sentence, tags := range map[string][]string{
		"a whole one":         state.LinkTags(link()),
		"one that lost a tag": state.LinkTags(link())[1:],
		"a bare one":          state.Tags("prod", north),
	} {
		t.Run(sentence, func(t *testing.T) {
			got, ours, err := state.ReadLedger(tags)
			if diff := cmp.Diff(want, got, sameAddresses); !ours || err != nil || diff != "" {
				t.Errorf("ours %v, error %v, ledger (-want +got):\n%s", ours, err, diff)
			}
		})
	}
}

// FuzzReadLink: what is accepted is exactly what would be written.
func FuzzReadLink(f *testing.F) {
	for _, l := range []alloc.LinkLedger{link(), crossing()} {
		f.Add(strings.Join(state.LinkTags(l), "\n"))
		f.Add(strings.Join(append(state.LinkTags(l), "team=network", "vpn.bnerd.network/x=1"), "\n"))
	}
	f.Add(strings.Join(append(state.LinkTags(link()), "vpn.bnerd.net/policy=\xff", "vpn.bnerd.net/leg=@"), "\n"))
	f.Fuzz(func(t *testing.T, text string) {
		tags := strings.Split(text, "\n")
		l, ours, err := state.ReadLink(tags)
		if !ours || err != nil {
			return
		}
		var theirs []string
		for _, tag := range tags {
			if strings.HasPrefix(tag, state.Prefix) {
				theirs = append(theirs, tag)
			}
		}
		slices.Sort(theirs)
		if diff := cmp.Diff(theirs, state.LinkTags(l)); diff != "" {
			t.Fatalf("accepted, but would be written in another way (-read +written):\n%s", diff)
		}
	})
}
