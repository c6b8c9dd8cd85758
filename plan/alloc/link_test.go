package alloc_test

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/plan/alloc"
	"github.com/vpnctl/vpnctl/plan/resource"
)

func TestLinkEntries(t *testing.T) {
	records := alloc.LinkLedger{
		Estate: "prod", Owner: linkOwner("north"), Applied: "h1", Leg: "p-1", LegAddress: addr("10.0.0.3"), Policy: "r-1", Abandoned: true, Ref: "sg-1",
	}
	for sentence, c := range map[string]struct {
		is   func(*alloc.LinkLedger)
		want []resource.Entry
	}{
		"a leg that we make": {
			func(l *alloc.LinkLedger) { l.TransitIP = addr("10.0.0.3") },
			entries(checked("link-cidr=10.40.0.0/16", "transit-ip=10.0.0.3")...),
		},
		"a leg that was there before": {
			func(l *alloc.LinkLedger) { l.TransitIP, l.Adopted = addr("10.0.0.3"), "port-9" },
			entries(checked("adopted=port-9", "link-cidr=10.40.0.0/16", "transit-ip=10.0.0.3")...),
		},
		"a leg in a customer's project": {
			func(l *alloc.LinkLedger) { l.Customer = "c0ffee" },
			entries(checked("customer-project=c0ffee", "link-cidr=10.40.0.0/16")...),
		},
		"nothing, and what was done is not among it": {func(l *alloc.LinkLedger) { l.CIDR = netip.Prefix{} }, nil},
	} {
		t.Run(sentence, func(t *testing.T) {
			l := records
			l.CIDR = prefix("10.40.0.0/16")
			c.is(&l)
			slices.SortFunc(c.want, func(a, b resource.Entry) int { return strings.Compare(a.Name, b.Name) })
			if diff := cmp.Diff(c.want, l.Entries()); diff != "" {
				t.Errorf("entries (-want +got):\n%s", diff)
			}
		})
	}
}

// randomLink is a link's ledger as it may be written, with IDs of all lengths.
func randomLink(r *rand.Rand) alloc.LinkLedger {
	address := func() netip.Addr {
		return netip.AddrFrom4([4]byte{10, byte(r.IntN(256)), byte(r.IntN(256)), byte(r.IntN(256))})
	}
	l := alloc.LinkLedger{CIDR: netip.PrefixFrom(address(), r.IntN(33)).Masked()}
	if r.IntN(2) == 0 {
		l.Customer = strings.Repeat("c", 1+r.IntN(alloc.MaxProject))
	} else {
		l.TransitIP = address()
	}
	if r.IntN(2) == 0 {
		l.Adopted = randomName(r)
	}
	return l
}

func TestEveryLinkLedgerFitsItsEntriesAndComesBack(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 500 {
		want := randomLink(r)
		list := want.Entries()
		for i, e := range list {
			if n := len(e.Name) + len("=") + len(e.Value); n > alloc.EntryLimit {
				t.Fatalf("%s has %d characters", e.Name, n)
			}
			if i > 0 && list[i-1].Name >= e.Name {
				t.Fatalf("%s after %s", e.Name, list[i-1].Name)
			}
		}
		r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		got, err := alloc.ParseLinkEntries(list)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, compare); diff != "" {
			t.Fatalf("ledger (-want +got):\n%s", diff)
		}
	}
}

func TestParseLinkEntriesRefuses(t *testing.T) {
	const cidr, ip = "link-cidr=10.40.0.0/16", "transit-ip=10.0.0.3"
	for sentence, c := range map[string]struct {
		lines []string
		want  string
	}{
		"nothing at all":                      {nil, "entry link-cidr is missing, read nothing"},
		"a lost CIDR":                         {checked(ip), "entry link-cidr is missing, read check="},
		"a lost transit IP":                   {checked(cidr), "entry transit-ip is missing"},
		"a lost check":                        {[]string{cidr, ip}, "entry check is missing, read link-cidr=10.40.0.0/16 transit-ip=10.0.0.3"},
		"a check of something else":           {[]string{cidr, ip, "check=0123456789ab"}, "the check does not fit the other entries, read check=0123456789ab"},
		"two checks":                          {append(checked(cidr, ip), "check=0123456789ab"), "entry check stands there twice"},
		"an entry of a newer vpnctl":          {checked(cidr, ip, "legs.1=a"), "entry legs.1 is not known: written by a newer vpnctl?"},
		"an entry of a gateway":               {checked(cidr, ip, "protocol=ipsec"), "entry protocol is not known"},
		"an entry twice":                      {checked(cidr, ip, ip), "entry transit-ip stands there twice"},
		"an address and a customer":           {checked(cidr, ip, "customer-project=c0ffee"), "transit-ip and customer-project both stand there"},
		"a CIDR with host bits":               {checked("link-cidr=10.40.0.1/16", ip), `link-cidr "10.40.0.1/16" is not an IPv4 network`},
		"a CIDR that is none":                 {checked("link-cidr=10.40.0.0", ip), `link-cidr "10.40.0.0" is not an IPv4 network`},
		"an IPv6 CIDR":                        {checked("link-cidr=fd00::/64", ip), "is not an IPv4 network"},
		"an empty CIDR":                       {checked("link-cidr=", ip), `link-cidr "" is not an IPv4 network`},
		"a transit IP that is none":           {checked(cidr, "transit-ip=10.0.0.300"), `transit-ip "10.0.0.300" is not an IPv4 address`},
		"an IPv6 transit IP":                  {checked(cidr, "transit-ip=::ffff:10.0.0.3"), "is not an IPv4 address"},
		"an adopted port without an ID":       {checked(cidr, ip, "adopted="), `adopted "" is no ID`},
		"an adopted port of two IDs":          {checked(cidr, ip, "adopted=a;b"), `adopted "a;b" is no ID`},
		"a customer without an ID":            {checked(cidr, "customer-project="), `customer-project "" is no ID`},
		"a customer of 65 characters":         {checked(cidr, "customer-project="+strings.Repeat("c", 65)), "is no ID"},
		"a customer that would split the tag": {checked(cidr, "customer-project=a,b"), `customer-project "a,b" is no ID`},
	} {
		t.Run(sentence, func(t *testing.T) {
			_, err := alloc.ParseLinkEntries(entries(c.lines...))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
}

func TestADamagedLinkLedgerIsNeverAnother(t *testing.T) {
	ours := alloc.LinkLedger{CIDR: prefix("10.40.0.0/16"), TransitIP: addr("10.0.0.3"), Adopted: "port-1"}
	theirs := alloc.LinkLedger{CIDR: prefix("10.40.0.0/16"), Customer: "c0ffee"}
	for _, l := range []alloc.LinkLedger{ours, theirs} {
		whole := l.Entries()
		for i, e := range whole {
			lost := slices.Delete(slices.Clone(whole), i, i+1)
			if got, err := alloc.ParseLinkEntries(lost); err == nil {
				t.Errorf("without %s: read %+v", e.Name, got)
			}
			for at := range e.Value {
				for _, c := range []byte("0a4/") {
					other := slices.Clone(whole)
					other[i].Value = e.Value[:at] + string(c) + e.Value[at+1:]
					if got, err := alloc.ParseLinkEntries(other); err == nil && e.Value[at] != c {
						t.Errorf("%s=%s: read %+v", e.Name, other[i].Value, got)
					}
				}
			}
		}
	}
}

func TestAnAddressIsKnownEvenWhereTheLinkLedgerIsNot(t *testing.T) {
	l, err := alloc.ParseLinkEntries(entries("legs.1=a", "adopted=a b", "link-cidr=10.40.0.0/16", "transit-ip=10.0.0.3"))
	want := alloc.LinkLedger{CIDR: prefix("10.40.0.0/16"), TransitIP: addr("10.0.0.3")}
	if diff := cmp.Diff(want, l, compare); err == nil || diff != "" {
		t.Errorf("error %v, ledger (-want +got):\n%s", err, diff)
	}
}

func TestWhichLinkLedgerIsOlder(t *testing.T) {
	at := func(hour int, ref, name string) alloc.LinkLedger {
		return alloc.LinkLedger{Created: time.Date(2026, 1, 1, hour, 0, 0, 0, time.UTC), Ref: ref, Owner: linkOwner(name)}
	}
	inOrder := []alloc.LinkLedger{at(1, "sg-9", "z"), at(2, "sg-1", "y"), at(2, "sg-2", "a"), at(2, "sg-2", "b")}
	for i, l := range inOrder {
		for j, o := range inOrder {
			if l.Older(o) != (i < j) {
				t.Errorf("%d older than %d: %v", i, j, l.Older(o))
			}
		}
	}
}

// FuzzParseLinkEntries: what is accepted is exactly what would be written.
func FuzzParseLinkEntries(f *testing.F) {
	f.Add(strings.Join(checked("link-cidr=10.40.0.0/16", "transit-ip=10.0.0.3", "adopted=port-1"), "\n"))
	f.Add(strings.Join(checked("link-cidr=10.40.0.0/16", "customer-project=c0ffee"), "\n"))
	f.Add(strings.Join(checked("link-cidr=0.0.0.0/0", "transit-ip=0.0.0.0"), "\n"))
	f.Add("link-cidr=010.40.0.0/16\ntransit-ip=::ffff:10.0.0.3\nadopted=\xff\n=\n")
	f.Fuzz(func(t *testing.T, text string) {
		list := entries(strings.Split(text, "\n")...)
		l, err := alloc.ParseLinkEntries(list)
		if err != nil {
			return
		}
		again, err := alloc.ParseLinkEntries(l.Entries())
		if err != nil {
			t.Fatalf("what was written is refused: %v", err)
		}
		if diff := cmp.Diff(l, again, compare); diff != "" {
			t.Fatalf("ledger (-first +second):\n%s", diff)
		}
		if fmt.Sprint(sortedEntries(list)) != fmt.Sprint(l.Entries()) {
			t.Fatalf("accepted %v, would write %v", list, l.Entries())
		}
	})
}

func sortedEntries(list []resource.Entry) []resource.Entry {
	return slices.SortedFunc(slices.Values(list), func(a, b resource.Entry) int { return strings.Compare(a.Name, b.Name) })
}
