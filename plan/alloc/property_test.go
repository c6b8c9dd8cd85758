package alloc_test

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/plan/alloc"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

func sortedNames(names []string) []string {
	if len(names) == 0 {
		return nil
	}
	return slices.Compact(slices.Sorted(slices.Values(names)))
}

// randomGateway has up to six exposures of each kind and peers, some pinned.
func randomGateway(r *rand.Rand, name string) vpn.Gateway {
	g := wireguard(name)
	if r.IntN(4) == 0 {
		g.ServiceCIDR = prefix(fmt.Sprintf("100.64.%d.0/24", r.IntN(40)))
	}
	for _, i := range r.Perm(6)[:r.IntN(7)] {
		exposure(fmt.Sprintf("x%d", i), randomPin(r, g, 10, 199))(&g)
	}
	for _, i := range r.Perm(6)[:r.IntN(7)] {
		reversed(fmt.Sprintf("r%d", i), randomPin(r, g, 200, 254))(&g)
	}
	for _, i := range r.Perm(6)[:r.IntN(7)] {
		warrior(fmt.Sprintf("w%d", i), randomPin(r, g, 192, 254))(&g)
	}
	return g
}

func randomPin(r *rand.Rand, g vpn.Gateway, from, to int) string {
	if !g.ServiceCIDR.IsValid() || r.IntN(5) > 0 {
		return ""
	}
	b := g.ServiceCIDR.Addr().As4()
	b[3] = byte(from + r.IntN(to-from+1))
	return netip.AddrFrom4(b).String()
}

func randomInput(r *rand.Rand, was map[vpn.Owner]alloc.Ledger) alloc.Input {
	in := alloc.Input{Estate: estate()}
	for _, i := range r.Perm(12)[:r.IntN(13)] {
		in.Estate.Gateways = append(in.Estate.Gateways, randomGateway(r, fmt.Sprintf("g%02d", i)))
	}
	for _, l := range was {
		in.Ledgers = append(in.Ledgers, l)
	}
	for range r.IntN(4) {
		in.Claims = append(in.Claims, alloc.Claim{Prefix: prefix(fmt.Sprintf("100.64.%d.0/%d", r.IntN(64), 22+r.IntN(11))), By: "somebody"})
	}
	return in
}

func shuffled(r *rand.Rand, in alloc.Input) alloc.Input {
	in.Estate.Gateways = permuted(r, in.Estate.Gateways)
	for i := range in.Estate.Gateways {
		g := &in.Estate.Gateways[i]
		g.Exposures, g.ReverseExposures, g.Peers = permuted(r, g.Exposures), permuted(r, g.ReverseExposures), permuted(r, g.Peers)
	}
	in.Ledgers, in.Claims = permuted(r, in.Ledgers), permuted(r, in.Claims)
	return in
}

func permuted[T any](r *rand.Rand, list []T) []T {
	list = slices.Clone(list)
	r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list
}

// A life of an estate: gateways, exposures and peers come, go and are pinned at
// random. After every edit, what was assigned is written, as an apply would.
func TestALifeOfAnEstate(t *testing.T) {
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 7))
		was := map[vpn.Owner]alloc.Ledger{}
		for range 25 {
			in := randomInput(r, was)
			got, problems := alloc.Assign(in)

			again, problemsAgain := alloc.Assign(shuffled(r, in))
			if diff := cmp.Diff(got, again, compare) + cmp.Diff(problems, problemsAgain); diff != "" {
				t.Fatalf("seed %d: the order of the input matters:\n%s", seed, diff)
			}
			answered(t, in, got, problems)
			for o, l := range got {
				g, _ := in.Estate.Gateway(o.Path())
				sound(t, g, l, was[o])
			}
			disjoint(t, in, got, was)
			for o, l := range got {
				was[o] = l
			}
			settled(t, in, got, was)
		}
	}
}

// answered: every gateway has a ledger or a problem, and not both.
func answered(t *testing.T, in alloc.Input, got map[vpn.Owner]alloc.Ledger, problems []alloc.Problem) {
	t.Helper()
	refused := map[vpn.Owner]bool{}
	for _, p := range problems {
		refused[p.Owner] = true
	}
	for _, g := range in.Estate.Gateways {
		if _, ok := got[g.Owner]; ok == refused[g.Owner] {
			t.Fatalf("%s: ledger %v, refused %v", g.Owner, ok, refused[g.Owner])
		}
	}
}

// sound: pins are honoured, what was held stays, ranges are kept, nothing twice.
func sound(t *testing.T, g vpn.Gateway, l, was alloc.Ledger) {
	t.Helper()
	switch {
	case g.ServiceCIDR.IsValid() && l.ServiceCIDR != g.ServiceCIDR,
		!g.ServiceCIDR.IsValid() && was.ServiceCIDR.IsValid() && l.ServiceCIDR != was.ServiceCIDR:
		t.Fatalf("%s: service CIDR %s, pinned %s, held %s", g.Owner, l.ServiceCIDR, g.ServiceCIDR, was.ServiceCIDR)
	}
	taken := map[byte]string{1: "the gateway"}
	place := func(name string, octet, held byte, pin netip.Addr, from, to byte) {
		t.Helper()
		if other, twice := taken[octet]; twice || octet < from || octet > to {
			t.Fatalf("%s: %s at .%d of .%d-.%d, taken by %q", g.Owner, name, octet, from, to, other)
		}
		taken[octet] = name
		if pin.IsValid() && pin.As4()[3] != octet || !pin.IsValid() && held != 0 && held != octet {
			t.Fatalf("%s: %s at .%d, held .%d, pinned %s", g.Owner, name, octet, held, pin)
		}
	}
	for _, x := range g.Exposures {
		place(x.Name, l.VirtualIPs[x.Name], was.VirtualIPs[x.Name], x.VirtualIP, 10, 199)
	}
	for _, x := range g.ReverseExposures {
		place(x.Name, l.VirtualIPs[x.Name], was.VirtualIPs[x.Name], x.VirtualIP, 200, 254)
	}
	for _, p := range g.Peers {
		place(p.Name, l.Addresses[p.Name], was.Addresses[p.Name], p.TunnelIP, 192, 254)
	}
	if n := len(g.Exposures) + len(g.ReverseExposures) + len(g.Peers); len(l.VirtualIPs)+len(l.Addresses) != n {
		t.Fatalf("%s: %d addresses for %d names", g.Owner, len(l.VirtualIPs)+len(l.Addresses), n)
	}
}

// disjoint: no new service CIDR meets a claim or any other owner's, gone ones
// included.
func disjoint(t *testing.T, in alloc.Input, got, was map[vpn.Owner]alloc.Ledger) {
	t.Helper()
	for o, l := range got {
		if l.ServiceCIDR == was[o].ServiceCIDR {
			continue
		}
		for _, c := range in.Claims {
			if c.Prefix.Masked().Overlaps(l.ServiceCIDR) {
				t.Fatalf("%s: %s meets claim %s", o, l.ServiceCIDR, c.Prefix)
			}
		}
		for _, others := range []map[vpn.Owner]alloc.Ledger{got, was} {
			for other, m := range others {
				if other != o && m.ServiceCIDR == l.ServiceCIDR {
					t.Fatalf("%s and %s both have %s", o, other, l.ServiceCIDR)
				}
			}
		}
	}
}

// settled: once written, the same input changes nothing.
func settled(t *testing.T, in alloc.Input, got, was map[vpn.Owner]alloc.Ledger) {
	t.Helper()
	in.Ledgers = nil
	for _, l := range was {
		in.Ledgers = append(in.Ledgers, l)
	}
	again, _ := alloc.Assign(in)
	for o, l := range got {
		if diff := cmp.Diff(l, again[o], compare); diff != "" {
			t.Fatalf("%s moved without an edit (-first +second):\n%s", o, diff)
		}
	}
}
