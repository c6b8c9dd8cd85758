package alloc_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/plan/alloc"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// fabric is a transit network over time: ledgers as they are written, and legs as they
// are made and taken over.
type fabric struct {
	*rand.Rand
	written map[vpn.Owner]alloc.LinkLedger
	legs    map[vpn.Owner]alloc.Occupant
	foreign []alloc.Occupant
}

// on is a random address of a subnet with room for fourteen hosts.
func (f *fabric) on() netip.Addr { return netip.AddrFrom4([4]byte{10, 0, 0, byte(f.IntN(18))}) }

// vacant is a random address at which no port is.
func (f *fabric) vacant() netip.Addr {
	for {
		at := f.on()
		if !slices.ContainsFunc(f.ports(), func(o alloc.Occupant) bool { return o.Address == at }) {
			return at
		}
	}
}

func (f *fabric) ports() []alloc.Occupant {
	all := slices.Clone(f.foreign)
	for _, o := range f.legs {
		all = append(all, o)
	}
	return all
}

// input has up to eight links of six routers, some pinned, some of a customer, and
// now and then a link that is released.
func (f *fabric) input() alloc.LegInput {
	var all []vpn.Link
	for _, i := range f.Perm(8)[:f.IntN(9)] {
		l := aLink(fmt.Sprintf("l%d", i), router(fmt.Sprintf("r%d", (i+f.IntN(2))%6)))
		switch f.IntN(6) {
		case 0:
			l.TransitIP = f.on()
		case 1:
			l.CustomerProject = "c0ffee"
		case 2:
			l.CIDR = prefix("10.41.0.0/16")
		}
		all = append(all, l)
	}
	in := links(all...)
	in.Subnet = prefix("10.0.0.0/28")
	in.Reserved = map[netip.Addr]string{addr("10.0.0.1"): "the subnet's gateway", addr("10.0.0.14"): "the lock's"}
	for _, l := range all {
		if f.IntN(10) == 0 {
			delete(in.Routers, l.Owner)
		}
	}
	for _, o := range inOrder(f.written) {
		in.Ledgers = append(in.Ledgers, f.written[o])
		if f.IntN(3) == 0 && !slices.ContainsFunc(all, func(l vpn.Link) bool { return l.Owner == o }) {
			in.Released = append(in.Released, o)
		}
	}
	in.Occupants = f.ports()
	return in
}

// live does with the result what an apply would that may be cut off at any time, and
// what other hands do meanwhile.
func (f *fabric) live(in alloc.LegInput, got map[vpn.Owner]alloc.LinkLedger) {
	for _, o := range in.Released {
		delete(f.written, o)
		delete(f.legs, o)
	}
	for _, o := range inOrder(got) {
		l := got[o]
		f.written[o] = l
		if l.Cross() || in.Routers[o] == "" || f.IntN(4) == 0 {
			continue
		}
		delete(f.legs, o)
		f.foreign = slices.DeleteFunc(f.foreign, func(p alloc.Occupant) bool { return p.Port == l.Adopted })
		if slices.ContainsFunc(f.ports(), func(p alloc.Occupant) bool { return p.Address == l.TransitIP }) {
			continue // a released one is there still
		}
		leg := legOf(o.Name, l.TransitIP.String(), in.Routers[o])
		f.legs[o] = leg
		if f.IntN(3) > 0 {
			l.Applied, l.Leg, l.LegAddress = "h1", leg.Port, leg.Address
			f.written[o] = l
		}
	}
	if f.IntN(3) == 0 && len(f.foreign) < 4 {
		p := port(f.vacant().String(), []string{"", "r1", "r2", "elsewhere"}[f.IntN(4)])
		p.Marked = f.IntN(4) == 0
		f.foreign = append(f.foreign, p)
	}
	if len(f.foreign) > 0 && f.IntN(4) == 0 {
		f.foreign = f.foreign[1:]
	}
}

func inOrder(ledgers map[vpn.Owner]alloc.LinkLedger) []vpn.Owner {
	return slices.SortedFunc(maps.Keys(ledgers), vpn.Owner.Compare)
}

func TestALifeOfATransitNetwork(t *testing.T) {
	refusals, moves, adoptions, assigned := 0, 0, 0, 0
	for seed := range uint64(60) {
		f := &fabric{rand.New(rand.NewPCG(seed, 11)), map[vpn.Owner]alloc.LinkLedger{}, map[vpn.Owner]alloc.Occupant{}, nil}
		for range 30 {
			in := f.input()
			got, problems := alloc.AssignLegs(in)
			legsInAnyOrder(t, f.Rand, in, got, problems)
			everyLinkAnswered(t, in, got, problems)
			for o, l := range got {
				soundLeg(t, in, l, f.written[o])
				adoptions += len(l.Adopted)
				if was := f.written[o].TransitIP; was.IsValid() && was != l.TransitIP {
					moves++
				}
			}
			apart(t, in, got)
			stillTheSame(t, in, got)
			refusals, assigned = refusals+len(problems), assigned+len(got)
			f.live(in, got)
		}
	}
	if refusals == 0 || moves == 0 || adoptions == 0 || assigned == 0 {
		t.Errorf("a life in which something never happens: %d refusals, %d moves, %d adoptions, %d ledgers", refusals, moves, adoptions, assigned)
	}
}

func legsInAnyOrder(t *testing.T, r *rand.Rand, in alloc.LegInput, got map[vpn.Owner]alloc.LinkLedger, problems []alloc.Problem) {
	t.Helper()
	in.Links, in.Ledgers, in.Released, in.Occupants = permuted(r, in.Links), permuted(r, in.Ledgers), permuted(r, in.Released), permuted(r, in.Occupants)
	again, problemsAgain := alloc.AssignLegs(in)
	if diff := cmp.Diff(got, again, compare) + cmp.Diff(problems, problemsAgain); diff != "" {
		t.Fatalf("the order of the input matters:\n%s", diff)
	}
}

// everyLinkAnswered: a ledger or a problem, and not both; neither where the router is
// said to be missing elsewhere.
func everyLinkAnswered(t *testing.T, in alloc.LegInput, got map[vpn.Owner]alloc.LinkLedger, problems []alloc.Problem) {
	t.Helper()
	refused := map[vpn.Owner]bool{}
	for _, p := range problems {
		refused[p.Owner] = true
	}
	for _, l := range in.Links {
		_, ok := got[l.Owner]
		if ok && refused[l.Owner] || !ok && !refused[l.Owner] && in.Routers[l.Owner] != "" {
			t.Fatalf("%s: ledger %v, refused %v", l.Owner, ok, refused[l.Owner])
		}
	}
}

// soundLeg: of the manifest's shape, at its pin, else where it was, else at a host from
// .3 on; never on another's port.
func soundLeg(t *testing.T, in alloc.LegInput, l, was alloc.LinkLedger) {
	t.Helper()
	at := slices.IndexFunc(in.Links, func(m vpn.Link) bool { return m.Owner == l.Owner })
	m := in.Links[at]
	switch {
	case l.CIDR != m.CIDR || l.Customer != m.CustomerProject || was.CIDR.IsValid() && (l.CIDR != was.CIDR || l.Customer != was.Customer):
		t.Fatalf("%s: %+v of %+v, was %+v", l.Owner, l, m, was)
	case l.Cross() != !l.TransitIP.IsValid():
		t.Fatalf("%s: address %v, customer %q", l.Owner, l.TransitIP, l.Customer)
	case l.Cross() || in.Routers[l.Owner] == "":
		return
	case m.TransitIP.IsValid() && l.TransitIP != m.TransitIP:
		t.Fatalf("%s: at %s, pinned %s", l.Owner, l.TransitIP, m.TransitIP)
	case !m.TransitIP.IsValid() && was.Applied != "" && l.TransitIP != was.TransitIP:
		t.Fatalf("%s: at %s, was at %s", l.Owner, l.TransitIP, was.TransitIP)
	}
	for _, o := range in.Occupants {
		released := slices.Contains(in.Released, o.Owner)
		byHand := !o.Marked && o.Router == in.Routers[l.Owner]
		if o.Address == l.TransitIP && o.Owner != l.Owner && !released && (!byHand || l.Adopted != o.Port) {
			t.Fatalf("%s: at %s, where %s is, adopted %q", l.Owner, l.TransitIP, o.By, l.Adopted)
		}
		if o.Port == l.Adopted && o.Owner != l.Owner && !byHand {
			t.Fatalf("%s: takes over %+v", l.Owner, o)
		}
	}
	if o := in.Reserved[l.TransitIP]; o != "" {
		t.Fatalf("%s: at %s, %s", l.Owner, l.TransitIP, o)
	}
}

// apart: no address and no router twice, nor an address that a link without manifest
// holds and keeps.
func apart(t *testing.T, in alloc.LegInput, got map[vpn.Owner]alloc.LinkLedger) {
	t.Helper()
	at, on := map[netip.Addr]vpn.Owner{}, map[string]vpn.Owner{}
	for o, l := range got {
		if other, twice := at[l.TransitIP]; twice && l.TransitIP.IsValid() {
			t.Fatalf("%s and %s are both at %s", o, other, l.TransitIP)
		}
		if other, twice := on[in.Routers[o]]; twice && in.Routers[o] != "" {
			t.Fatalf("%s and %s are both on %s", o, other, in.Routers[o])
		}
		at[l.TransitIP], on[in.Routers[o]] = o, o
	}
	for _, l := range in.Ledgers {
		_, here := got[l.Owner]
		if other, twice := at[l.TransitIP]; twice && l.TransitIP.IsValid() && !here && l.Owner != other && l.Applied != "" &&
			!slices.Contains(in.Released, l.Owner) && slices.ContainsFunc(in.Occupants, func(o alloc.Occupant) bool { return o.Owner == l.Owner && o.Address == l.TransitIP }) {
			t.Fatalf("%s is at %s, which %s has", other, l.TransitIP, l.Owner)
		}
	}
}

// stillTheSame: once written, the same input changes nothing, and what was written can
// be read again.
func stillTheSame(t *testing.T, in alloc.LegInput, got map[vpn.Owner]alloc.LinkLedger) {
	t.Helper()
	in.Ledgers = slices.DeleteFunc(slices.Clone(in.Ledgers), func(l alloc.LinkLedger) bool { _, written := got[l.Owner]; return written })
	for _, l := range got {
		in.Ledgers = append(in.Ledgers, l)
		if _, err := alloc.ParseLinkEntries(l.Entries()); err != nil {
			t.Fatalf("%s: %v", l.Owner, err)
		}
	}
	again, _ := alloc.AssignLegs(in)
	for o, l := range got {
		if diff := cmp.Diff(l, again[o], compare); diff != "" {
			t.Fatalf("%s moved without an edit (-first +second):\n%s", o, diff)
		}
	}
}
