package alloc

import (
	"cmp"
	"fmt"
	"iter"
	"net/netip"
	"slices"
	"strings"

	"github.com/vpnctl/vpnctl/plan/vpn"
)

// seat is one exposure or road warrior and the last octet that it gets.
type seat struct {
	kind   string // in words
	name   string
	pin    netip.Addr
	held   int  // octet in the ledger; 0: none
	wish   int  // octet that a predecessor of the service CIDR gave to the name, or that it had itself; 0: none
	within span // where it may be
	road   bool
	octet  int
}

func (s *seat) String() string { return s.kind + " " + s.name }

// table is the used-set of one service CIDR: no octet is given twice.
type table struct {
	cidr     netip.Prefix
	taken    [256]*seat
	known    [256]bool // somebody may still call there: it was given out before
	problems []Problem
}

// seat places every exposure and road warrior of the gateway: pinned ones first,
// then those that the ledger holds, then those that a predecessor gave to the name,
// then new virtual IPs, then new road warriors.
func (l *Ledger) seat(g *vpn.Gateway, was, predecessor Ledger) []Problem {
	t := &table{cidr: l.ServiceCIDR}
	seats := t.seats(g, was, predecessor)
	t.remember(was, predecessor)
	t.pinned(seats)
	t.held(seats)
	t.follow(seats)
	t.free(seats)
	for _, s := range seats {
		switch {
		case s.octet == 0:
		case s.road:
			l.Addresses = put(l.Addresses, s)
		default:
			l.VirtualIPs = put(l.VirtualIPs, s)
		}
	}
	l.keepPast(predecessor, was)
	return t.problems
}

func put(m map[string]byte, s *seat) map[string]byte {
	if m == nil {
		m = map[string]byte{}
	}
	m[s.name] = byte(s.octet)
	return m
}

// seats lists what needs a place: virtual IPs by name, then road warriors by
// name.
func (t *table) seats(g *vpn.Gateway, was, predecessor Ledger) []*seat {
	seats := make([]*seat, 0, len(g.Exposures)+len(g.ReverseExposures))
	wish := func(name string, within span) int {
		return cmp.Or(int(predecessor.VirtualIPs[name]), lastHad(was.PastVirtualIPs, name, within), lastHad(predecessor.PastVirtualIPs, name, within))
	}
	for _, x := range g.Exposures {
		seats = append(seats, &seat{kind: "exposure", name: x.Name, pin: x.VirtualIP, held: int(was.VirtualIPs[x.Name]), wish: wish(x.Name, exposures), within: exposures})
	}
	for _, x := range g.ReverseExposures {
		seats = append(seats, &seat{kind: "reverse exposure", name: x.Name, pin: x.VirtualIP, held: int(was.VirtualIPs[x.Name]), wish: wish(x.Name, reverse), within: reverse})
	}
	sortSeats(seats)
	t.names(seats)
	if g.WireGuard == nil {
		return seats
	}
	within, ok := t.roadWarriors(g.WireGuard.RoadWarriorCIDR)
	if !ok {
		return seats
	}
	var road []*seat
	for _, p := range g.Peers {
		if p.RoadWarrior {
			road = append(road, &seat{kind: "road warrior", name: p.Name, pin: p.TunnelIP, held: int(was.Addresses[p.Name]),
				wish: cmp.Or(int(predecessor.Addresses[p.Name]), lastHad(was.PastAddresses, p.Name, within), lastHad(predecessor.PastAddresses, p.Name, within)), within: within, road: true})
		}
	}
	sortSeats(road)
	return append(seats, road...)
}

func sortSeats(seats []*seat) {
	slices.SortFunc(seats, func(a, b *seat) int { return strings.Compare(a.name, b.name) })
}

// names refuses what the ledger can't hold: it has one name for both lists.
func (t *table) names(sorted []*seat) {
	for i, s := range sorted {
		if !Writable(s.name) {
			t.refuse("", "%s %.40q can't be recorded: at most %d letters, digits, dots and dashes", s.kind, s.name, MaxName)
		}
		if i > 0 && sorted[i-1].name == s.name {
			t.refuse("", "exposure name %s is used twice", s.name)
		}
	}
}

// roadWarriors is the range of road-warrior addresses.
func (t *table) roadWarriors(cidr netip.Prefix) (span, bool) {
	if !cidr.IsValid() {
		return roadDefault, true
	}
	if b, ok := block(cidr); !ok || b != t.cidr {
		t.refuse(fmt.Sprintf("pin a serviceCIDR that holds it, or a range in %s", t.cidr),
			"roadWarriorCIDR %s lies outside the service CIDR %s", cidr, t.cidr)
		return span{}, false
	}
	first := lastOctet(cidr.Masked().Addr())
	last := first + 1<<(32-cidr.Bits()) - 1
	return span{max(first, usable.from), min(last, usable.to)}, true
}

func lastOctet(a netip.Addr) int { return int(a.As4()[3]) }

// pinned places what the manifests place.
func (t *table) pinned(seats []*seat) {
	for _, s := range seats {
		if !s.pin.IsValid() {
			continue
		}
		if !s.pin.Is4() || !t.cidr.Contains(s.pin) {
			t.refuse(t.around(s.pin), "%s is pinned to %s, outside the service CIDR %s", s, s.pin, t.cidr)
			continue
		}
		octet := lastOctet(s.pin)
		if !s.within.contains(octet) {
			t.refuse("", "%s is pinned to %s, outside its range %s", s, s.pin, s.within)
			continue
		}
		if other := t.taken[octet]; other != nil {
			t.refuse("", "%s is pinned to %s, and so is %s", s, s.pin, other)
			continue
		}
		t.take(s, octet)
	}
}

func (t *table) around(pin netip.Addr) string {
	if !pin.Is4() {
		return ""
	}
	return fmt.Sprintf("pin serviceCIDR %s to use this address", netip.PrefixFrom(pin, blockBits).Masked())
}

// held keeps what was allocated before. An octet outside the range of its owner
// belonged to something else of that name, or to another roadWarriorCIDR, and is
// given up.
func (t *table) held(seats []*seat) {
	for _, s := range seats {
		if s.pin.IsValid() || !s.within.contains(s.held) {
			continue
		}
		switch other := t.taken[s.held]; {
		case other == nil:
			t.take(s, s.held)
		case other.pin.IsValid():
			t.refuse(fmt.Sprintf("pin another address for %s, or one for %s to move it", other, s),
				"%s is pinned to %s, which %s holds", other, other.pin, s)
		default:
			t.refuse(fmt.Sprintf("pin an address for %s to move it", s),
				"%s and %s both hold .%d in the ledger", other, s, s.held)
		}
	}
}

// free gives the rest what is left: exposures the lowest octet of their range,
// road warriors .199 and down, then .254 and down. What was another's comes last.
func (t *table) free(seats []*seat) {
	full := map[string][]*seat{}
	for _, s := range seats {
		if s.octet != 0 || s.pin.IsValid() {
			continue
		}
		if octet, ok := t.search(s); ok {
			t.take(s, octet)
		} else {
			full[s.kind] = append(full[s.kind], s)
		}
	}
	for _, kind := range []string{"exposure", "reverse exposure", "road warrior"} {
		if left := full[kind]; len(left) > 0 {
			t.exhausted(left)
		}
	}
}

// search finds a place for a seat, and one that was given to another name before
// only where no other is left.
func (t *table) search(s *seat) (int, bool) {
	former := 0
	for octet := range s.order() {
		switch {
		case t.taken[octet] != nil:
		case !t.known[octet]:
			return octet, true
		case former == 0:
			former = octet
		}
	}
	return former, former != 0
}

// order is in which order a seat would have the octets of its range.
func (s *seat) order() iter.Seq[int] {
	return func(yield func(int) bool) {
		if !s.road {
			s.within.up(yield)
			return
		}
		// Two legs, so that reverse exposures are met last.
		_ = span{s.within.from, min(s.within.to, exposures.to)}.down(yield) &&
			span{max(s.within.from, reverse.from), s.within.to}.down(yield)
	}
}

// exhausted names the range, its figures, and who sits in it.
func (t *table) exhausted(left []*seat) {
	s := left[0]
	taken, strangers := 0, 0
	for octet := s.within.from; octet <= s.within.to; octet++ {
		if other := t.taken[octet]; other != nil {
			taken++
			if other.road != s.road {
				strangers++
			}
		}
	}
	who := s.String()
	if len(left) > 1 {
		who = fmt.Sprintf("%s and %d more", who, len(left)-1)
	}
	message := fmt.Sprintf("no address is left for %s: %ss %s: %d of %d taken", who, s.kind, s.within, taken, max(0, s.within.to-s.within.from+1))
	if strangers > 0 {
		message += fmt.Sprintf(", %d of them by %s", strangers, map[bool]string{true: "virtual IPs", false: "road warriors"}[s.road])
	}
	t.refuse("", "%s", message)
}

func (t *table) take(s *seat, octet int) {
	t.taken[octet] = s
	s.octet = octet
}

func (t *table) refuse(hint, format string, args ...any) {
	t.problems = append(t.problems, Problem{Message: fmt.Sprintf(format, args...), Hint: hint})
}
