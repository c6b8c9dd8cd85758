package alloc_test

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"slices"
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
	want := entries("addresses.1=ina:199", "authorization=grants", "check=eca61992fd6e", "floating-ip=fip-1", "peers.1=ina;plant1",
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
	past := func(n int) (all []alloc.Past) {
		for name, octet := range take(n) {
			all = append(all, alloc.Past{Name: name, Octet: octet})
		}
		return all
	}
	l.VirtualIPs, l.Addresses = take(r.IntN(120)), take(r.IntN(120))
	l.PastVirtualIPs, l.PastAddresses = past(r.IntN(6)), past(r.IntN(6))
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
	// 12 characters a name, with octet and separator up to 17: 13 or 14 an entry,
	// beside the service CIDR and the check.
	if n := len(l.Entries()); n > 2+15 {
		t.Errorf("%d entries for 190 exposures", n)
	}
}

// checked adds the check that fits, as somebody would who knows how it is made.
func checked(lines ...string) []string {
	sum := sha256.Sum256([]byte(strings.Join(slices.Sorted(slices.Values(lines)), "\n") + "\n"))
	return append(slices.Clone(lines), fmt.Sprintf("check=%x", sum[:6]))
}

func TestParseEntriesRefuses(t *testing.T) {
	whole := func(more ...string) []string {
		return append([]string{"protocol=ipsec", "service-cidr=100.64.0.0/24", "authorization=open"}, more...)
	}
	for sentence, c := range map[string]struct {
		lines []string
		want  string
	}{
		"nothing at all":       {nil, "entry protocol is missing, read nothing"},
		"a lost protocol":      {checked("service-cidr=100.64.0.0/24", "authorization=open"), "entry protocol is missing, read authorization=open check="},
		"a lost service CIDR":  {checked("protocol=ipsec", "authorization=open"), "entry service-cidr is missing"},
		"a lost authorization": {checked("protocol=ipsec", "service-cidr=100.64.0.0/24"), "entry authorization is missing"},
		"a lost check":         {whole(), "entry check is missing, read authorization=open protocol=ipsec service-cidr=100.64.0.0/24"},
		"an address that somebody has and another had": {
			checked(whole("past-vips.1=api:10", "vips.1=web:10")...), "web has .10, and api had it before",
		},
		"an address that two had": {
			checked(whole("past-addr.1=ina:10", "past-vips.1=api:10")...), "api has .10, and ina had it before",
		},
		"an address that one had twice": {
			checked(whole("past-vips.1=api:10;web:10")...), "api has .10, and web had it before",
		},
		"a past in more entries than it takes": {
			checked(whole("past-vips.1=api:11", "past-vips.2=web:10")...), "the entries are not written as vpnctl writes them",
		},
		"an address of the past without its name": {checked(whole("past-addr.1=:10")...), "is not name:octet"},
		"a check of something else":               {whole("check=0123456789ab"), "the check does not fit the other entries, read authorization=open check=0123456789ab"},
		"two checks":                              {append(checked(whole()...), "check=0123456789ab"), "entry check stands there twice"},
		"an entry of a newer vpnctl":              {whole("shard=7"), "entry shard is not known: written by a newer vpnctl?"},
		"a series of a newer vpnctl":              {whole("shards.1=7"), "entry shards.1 is not known"},
		"a protocol of a newer vpnctl":            {[]string{"protocol=openvpn"}, `protocol "openvpn" is not known: written by a newer vpnctl?`},
		"an authorization that is not known":      {[]string{"protocol=ipsec", "authorization=maybe"}, `authorization "maybe" is not known`},
		"an entry twice":                          {whole("protocol=ipsec"), "entry protocol stands there twice"},
		"a service CIDR that is no /24":           {[]string{"service-cidr=100.64.0.0/23"}, "is not an IPv4 /24"},
		"a service CIDR that is no range":         {[]string{"service-cidr=100.64.0.0/33"}, `service-cidr "100.64.0.0/33" is not an IPv4 /24`},
		"a service CIDR with host bits":           {[]string{"service-cidr=100.64.0.7/24"}, "is not an IPv4 /24"},
		"an IPv6 service CIDR":                    {[]string{"service-cidr=fd00::/24"}, "is not an IPv4 /24"},
		"a gap in a series":                       {whole("vips.1=a:10", "vips.3=b:11"), "entry vips.2 is missing"},
		"a series that begins late":               {whole("vips.2=a:10"), "entry vips.1 is missing"},
		"a number written in another way":         {checked(whole("vips.01=a:10")...), "not written as vpnctl writes them"},
		"an octet written in another way":         {checked(whole("vips.1=a:010")...), "not written as vpnctl writes them"},
		"an octet beyond 255":                     {whole("vips.1=a:256"), `"a:256" is not name:octet`},
		"the gateway's own octet":                 {whole("vips.1=a:1"), `"a:1" is not name:octet`},
		"a pair without octet":                    {whole("vips.1=a"), `"a" is not name:octet`},
		"a name twice":                            {whole("vips.1=a:10;a:11"), "a stands there twice"},
		"an octet twice":                          {checked(whole("vips.1=a:10;b:10")...), "a and b both have .10"},
		"an octet of both kinds":                  {checked(whole("vips.1=a:199", "addresses.1=b:199")...), "a and b both have .199"},
		"pairs out of order":                      {checked(whole("vips.1=b:10;a:11")...), "not written as vpnctl writes them"},
		"peers out of order":                      {checked(whole("peers.1=b;a")...), "not written as vpnctl writes them"},
		"an entry that is less full than may":     {checked(whole("vips.1=a:10", "vips.2=b:11")...), "not written as vpnctl writes them"},
		"a peer twice":                            {checked(whole("peers.1=a;a")...), "not written as vpnctl writes them"},
		"an empty series":                         {whole("peers.1="), `"" is no name`},
	} {
		t.Run(sentence, func(t *testing.T) {
			_, err := alloc.ParseEntries(entries(c.lines...))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
}

// Whichever entry gets lost, and whatever another hand writes in its place, also
// where it makes sense: a ledger comes back as it was written or not at all.
func TestADamagedLedgerIsNeverAnother(t *testing.T) {
	l := alloc.Ledger{
		Protocol: vpn.WireGuard, ServiceCIDR: prefix("100.64.3.0/24"), VirtualIPs: map[string]byte{"ldap": 10, "web": 11},
		Addresses: map[string]byte{"ina": 199}, Peers: []string{"ina"}, Grants: true, FloatingIP: "fip-1",
	}
	whole := l.Entries()
	refused := func(how string, list []resource.Entry) {
		t.Helper()
		if got, err := alloc.ParseEntries(list); err == nil {
			t.Errorf("%s: read %+v", how, got)
		}
	}
	for i, e := range whole {
		refused("without "+e.Name, slices.Delete(slices.Clone(whole), i, i+1))
		for at := range e.Value {
			for _, c := range []byte("0a:;") {
				if e.Value[at] != c {
					other := slices.Clone(whole)
					other[i].Value = e.Value[:at] + string(c) + e.Value[at+1:]
					refused(e.Name+"="+other[i].Value, other)
				}
			}
		}
	}
	for from, to := range map[string]string{
		"ldap:10;web:11": "ldap:11;web:10", "100.64.3.0/24": "100.64.4.0/24", "wireguard": "ipsec", "grants": "open", "fip-1": "fip-2",
	} {
		other := slices.Clone(whole)
		for i := range other {
			other[i].Value = strings.ReplaceAll(other[i].Value, from, to)
		}
		refused(to, other)
	}
}

func TestAnErrorShowsNoEndlessLedger(t *testing.T) {
	l := alloc.Ledger{ServiceCIDR: prefix("100.64.0.0/24")}
	for i := range 500 {
		l.Peers = append(l.Peers, fmt.Sprintf("plant-%03d", i))
	}
	if _, err := alloc.ParseEntries(l.Entries()); err == nil || len(err.Error()) > 400 {
		t.Errorf("error %v", err)
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
	f.Add(strings.Join(checked("protocol=ipsec", "service-cidr=100.64.0.0/24", "authorization=open", "vips.1=web:10;y:11"), "\n"))
	f.Add(strings.Join(checked("protocol=ipsec", "service-cidr=100.64.0.0/24", "authorization=open", "vips.1=y:11;web:10"), "\n"))
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

func TestWhichNamesCanBeRecorded(t *testing.T) {
	got := map[string]bool{}
	want := map[string]bool{
		"web": true, "WEB-1_a.b": true, "0": true, strings.Repeat("a", alloc.MaxName): true,
		"": false, "a;b": false, "a:b": false, "a=b": false, "a,b": false, "a b": false, "a/b": false, "a[b": false, "a{b": false, "a+b": false,
		"é": false, "a\n": false, strings.Repeat("a", alloc.MaxName+1): false,
	}
	for name := range want {
		got[name] = alloc.Writable(name)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
