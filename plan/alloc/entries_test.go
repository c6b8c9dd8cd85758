package alloc_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/plan/alloc"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// entries reads "name=value" lines.
func entries(lines ...string) []resource.Entry {
	var list []resource.Entry
	for _, line := range lines {
		name, value, _ := strings.Cut(line, "=")
		list = append(list, resource.Entry{Name: name, Value: value})
	}
	return list
}

func TestEntries(t *testing.T) {
	l := alloc.Ledger{
		Estate: "prod", Owner: owner("dc1"), Protocol: vpn.WireGuard, ServiceCIDR: prefix("100.64.3.0/24"),
		VirtualIPs: map[string]byte{"web": 10, "db": 11}, Addresses: map[string]byte{"ina": 199},
		Peers: []string{"ina", "plant1"}, Grants: true, FloatingIP: "fip-1", Applied: "not an entry",
	}
	want := entries("addresses.1=ina:199", "authorization=grants", "floating-ip=fip-1", "peers.1=ina;plant1",
		"protocol=wireguard", "service-cidr=100.64.3.0/24", "vips.1=db:11;web:10")
	if diff := cmp.Diff(want, l.Entries()); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
	if got := (alloc.Ledger{Estate: "prod", Owner: owner("dc1")}).Entries(); got != nil {
		t.Errorf("a ledger without allocations has entries: %v", got)
	}
}

// randomLedger is valid, with names of all lengths.
func randomLedger(r *rand.Rand) alloc.Ledger {
	l := alloc.Ledger{Protocol: vpn.WireGuard, ServiceCIDR: prefix(fmt.Sprintf("100.64.%d.0/24", r.IntN(256))), Grants: r.IntN(2) == 0}
	if r.IntN(2) == 0 {
		l.FloatingIP = randomName(r)
	}
	octets := r.Perm(253)
	take := func(n int) map[string]byte {
		var m map[string]byte
		for range n {
			if m == nil {
				m = map[string]byte{}
			}
			m[randomName(r)] = byte(octets[0] + 2)
			octets = octets[1:]
		}
		return m
	}
	l.VirtualIPs, l.Addresses = take(r.IntN(120)), take(r.IntN(120))
	for range r.IntN(300) {
		l.Peers = append(l.Peers, randomName(r))
	}
	return l
}

func randomName(r *rand.Rand) string {
	const letters = "abcdefghijklmnopqrstuvwxyz0123456789-."
	longest := []int{8, 63, alloc.MaxName}[r.IntN(3)]
	name := make([]byte, 1+r.IntN(longest))
	for i := range name {
		name[i] = letters[r.IntN(len(letters))]
	}
	return string(name)
}

func TestEveryLedgerFitsItsEntriesAndComesBack(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		l := randomLedger(r)
		list := l.Entries()
		for i, e := range list {
			if n := len(e.Name) + len("=") + len(e.Value); n > alloc.EntryLimit {
				t.Fatalf("%s has %d characters", e.Name, n)
			}
			if i > 0 && list[i-1].Name >= e.Name {
				t.Fatalf("%s after %s", e.Name, list[i-1].Name)
			}
			if strings.ContainsRune(e.Value, ',') {
				t.Fatalf("%s holds a comma", e.Name)
			}
		}
		r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		got, err := alloc.ParseEntries(list)
		if err != nil {
			t.Fatal(err)
		}
		want := l
		want.Peers = sortedNames(l.Peers)
		if diff := cmp.Diff(want, got, compare); diff != "" {
			t.Fatalf("ledger (-want +got):\n%s", diff)
		}
	}
}

func TestEntriesAreAsFewAsPossible(t *testing.T) {
	l := alloc.Ledger{ServiceCIDR: prefix("100.64.0.0/24"), VirtualIPs: map[string]byte{}}
	for i := range 190 {
		l.VirtualIPs[fmt.Sprintf("exposure-%03d", i)] = byte(10 + i)
	}
	// 12 characters a name, with octet and separator up to 17: 13 or 14 an entry.
	if n := len(l.Entries()); n > 1+15 {
		t.Errorf("%d entries for 190 exposures", n)
	}
}

func TestParseEntriesRefuses(t *testing.T) {
	whole := []string{"protocol=ipsec", "service-cidr=100.64.0.0/24", "authorization=open"}
	for sentence, c := range map[string]struct {
		lines []string
		want  string
	}{
		"an entry of a newer vpnctl":          {append(whole, "shard=7"), "entry shard is not known: written by a newer vpnctl?"},
		"a series of a newer vpnctl":          {append(whole, "shards.1=7"), "entry shards.1 is not known"},
		"a protocol of a newer vpnctl":        {[]string{"protocol=openvpn"}, `protocol "openvpn" is not known: written by a newer vpnctl?`},
		"an authorization that is not known":  {[]string{"protocol=ipsec", "authorization=maybe"}, `authorization "maybe" is not known`},
		"an entry twice":                      {append(whole, "protocol=ipsec"), "entry protocol stands there twice"},
		"a service CIDR that is no /24":       {[]string{"service-cidr=100.64.0.0/23"}, "is not an IPv4 /24"},
		"a service CIDR with host bits":       {[]string{"service-cidr=100.64.0.7/24"}, "is not an IPv4 /24"},
		"an IPv6 service CIDR":                {[]string{"service-cidr=fd00::/24"}, "is not an IPv4 /24"},
		"a gap in a series":                   {append(whole, "vips.1=a:10", "vips.3=b:11"), "entry vips.2 is missing"},
		"a series that begins late":           {append(whole, "vips.2=a:10"), "entry vips.1 is missing"},
		"a number written in another way":     {append(whole, "vips.01=a:10"), "changed by another hand"},
		"an octet written in another way":     {append(whole, "vips.1=a:010"), "changed by another hand"},
		"an octet beyond 255":                 {append(whole, "vips.1=a:256"), `"a:256" is not name:octet`},
		"the gateway's own octet":             {append(whole, "vips.1=a:1"), `"a:1" is not name:octet`},
		"a pair without octet":                {append(whole, "vips.1=a"), `"a" is not name:octet`},
		"a name twice":                        {append(whole, "vips.1=a:10;a:11"), "a stands there twice"},
		"an octet twice":                      {append(whole, "vips.1=a:10;b:10"), "a and b both have .10"},
		"an octet of both kinds":              {append(whole, "vips.1=a:199", "addresses.1=b:199"), "a and b both have .199"},
		"pairs out of order":                  {append(whole, "vips.1=b:10;a:11"), "changed by another hand"},
		"peers out of order":                  {append(whole, "peers.1=b;a"), "changed by another hand"},
		"an entry that is less full than may": {append(whole, "vips.1=a:10", "vips.2=b:11"), "changed by another hand"},
		"a peer twice":                        {append(whole, "peers.1=a;a"), "changed by another hand"},
		"an empty series":                     {append(whole, "peers.1="), `"" is no name`},
		"addresses without a service CIDR":    {[]string{"protocol=ipsec", "authorization=open", "vips.1=a:10"}, "addresses without a service-cidr"},
		"a lost authorization":                {[]string{"protocol=ipsec", "service-cidr=100.64.0.0/24"}, "changed by another hand"},
	} {
		t.Run(sentence, func(t *testing.T) {
			_, err := alloc.ParseEntries(entries(c.lines...))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
}

func TestARangeIsKnownEvenWhereTheLedgerIsNot(t *testing.T) {
	l, err := alloc.ParseEntries(entries("authorization=by-time", "service-cidr=100.64.8.0/24", "shard=7"))
	if err == nil || l.ServiceCIDR != prefix("100.64.8.0/24") {
		t.Errorf("read %v, error %v", l.ServiceCIDR, err)
	}
}

// FuzzParseEntries: what is accepted is exactly what would be written.
func FuzzParseEntries(f *testing.F) {
	f.Add("protocol=ipsec\nservice-cidr=100.64.0.0/24\nauthorization=open\nvips.1=web:10;y:11")
	f.Add("addresses.1=ina:199\nauthorization=grants\nfloating-ip=f-1\npeers.1=ina;plant1\nprotocol=wireguard\nservice-cidr=100.64.3.0/24")
	f.Add("vips.1=\xff:10\nvips.0=a:3\nvips.-1=a:3\nvips.=\n=\n")
	f.Fuzz(func(t *testing.T, text string) {
		list := entries(strings.Split(text, "\n")...)
		l, err := alloc.ParseEntries(list)
		if err != nil {
			return
		}
		again, err := alloc.ParseEntries(l.Entries())
		if err != nil {
			t.Fatalf("what was written is refused: %v", err)
		}
		if diff := cmp.Diff(l, again, compare); diff != "" {
			t.Fatalf("ledger (-first +second):\n%s", diff)
		}
		if len(l.Entries()) != len(list) {
			t.Fatalf("accepted %v, would write %v", list, l.Entries())
		}
	})
}
