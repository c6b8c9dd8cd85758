package alloc

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// ParseEntries is the inverse of Entries for what was allocated to a gateway, and
// accepts nothing else: what another hand changed or removed is an error, no
// entries at all are one, and so is an entry of a newer vpnctl. With an error come
// those parts that could be read, so that a range is known to be taken even where
// its ledger can't be relied on.
func ParseEntries(entries []resource.Entry) (Ledger, error) {
	r := reader{seen: map[string]bool{}, series: map[string]map[int]string{}}
	for _, e := range entries {
		r.entry(e)
	}
	r.list(entryVirtualIPs, func(item string) error { return putPair(&r.ledger.VirtualIPs, item) })
	r.list(entryAddresses, func(item string) error { return putPair(&r.ledger.Addresses, item) })
	r.list(entryPastVirtualIPs, func(item string) error { return putPast(&r.ledger.PastVirtualIPs, item) })
	r.list(entryPastAddresses, func(item string) error { return putPast(&r.ledger.PastAddresses, item) })
	r.list(entryPeers, r.peer)
	if r.err == nil {
		r.err = r.ledger.check(entries)
	}
	return r.ledger, r.err
}

type reader struct {
	ledger Ledger
	seen   map[string]bool
	series map[string]map[int]string // base name → number → value
	err    error                     // the first one
}

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf(format, args...)
	}
}

func (r *reader) entry(e resource.Entry) {
	if r.seen[e.Name] {
		r.fail("entry %s stands there twice", e.Name)
	}
	r.seen[e.Name] = true
	switch e.Name {
	case entryProtocol:
		r.ledger.Protocol = vpn.Protocol(e.Value)
		if p := r.ledger.Protocol; p != vpn.IPsec && p != vpn.WireGuard {
			r.fail("protocol %q is not known: written by a newer vpnctl?", e.Value)
		}
	case entryServiceCIDR:
		p, err := netip.ParsePrefix(e.Value)
		if b, ok := block(p); err != nil || !ok || b != p {
			r.fail("service-cidr %q is not an IPv4 /24", e.Value)
			return
		}
		r.ledger.ServiceCIDR = p
	case entryAuthorization:
		r.ledger.Grants = e.Value == authorizationGrants
		if !r.ledger.Grants && e.Value != authorizationOpen {
			r.fail("authorization %q is not known: written by a newer vpnctl?", e.Value)
		}
	case entryCheck:
	case entryFloatingIP:
		r.ledger.FloatingIP = e.Value
		if !Writable(e.Value) {
			r.fail("floating-ip %q is no ID", e.Value)
		}
	default:
		r.numbered(e)
	}
}

func (r *reader) numbered(e resource.Entry) {
	base, digits, _ := strings.Cut(e.Name, ".")
	n, err := strconv.Atoi(digits)
	if err != nil || !slices.Contains([]string{entryVirtualIPs, entryAddresses, entryPastVirtualIPs, entryPastAddresses, entryPeers}, base) {
		r.fail("entry %s is not known: written by a newer vpnctl?", e.Name)
		return
	}
	if r.series[base] == nil {
		r.series[base] = map[int]string{}
	}
	r.series[base][n] = e.Value
}

// list reads one series. A gap in it means that a tag was lost.
func (r *reader) list(base string, read func(item string) error) {
	for i, n := range slices.Sorted(maps.Keys(r.series[base])) {
		if n != i+1 {
			r.fail("entry %s.%d is missing", base, i+1)
		}
		for item := range strings.SplitSeq(r.series[base][n], ";") {
			if err := read(item); err != nil {
				r.fail("entry %s.%d: %w", base, n, err)
			}
		}
	}
}

// pair reads name:octet.
func pair(item string) (name string, octet byte, err error) {
	name, digits, _ := strings.Cut(item, ":")
	n, err := strconv.ParseUint(digits, 10, 8)
	if err != nil || !Writable(name) || !usable.contains(int(n)) {
		return "", 0, fmt.Errorf("%q is not name:octet", item)
	}
	return name, byte(n), nil
}

func putPast(past *[]Past, item string) error {
	name, octet, err := pair(item)
	if err == nil {
		*past = append(*past, Past{name, octet})
	}
	return err
}

func putPair(octets *map[string]byte, item string) error {
	name, octet, err := pair(item)
	if err != nil {
		return err
	}
	if *octets == nil {
		*octets = map[string]byte{}
	}
	if _, twice := (*octets)[name]; twice {
		return fmt.Errorf("%s stands there twice", name)
	}
	(*octets)[name] = octet
	return nil
}

func (r *reader) peer(name string) error {
	if !Writable(name) {
		return fmt.Errorf("%q is no name", name)
	}
	r.ledger.Peers = append(r.ledger.Peers, name)
	return nil
}

// check compares what was read with what would be written, which finds whatever
// the entries say in another way than Entries does, or don't say any more.
func (l Ledger) check(entries []resource.Entry) error {
	if err := complete(entries, entryProtocol, entryServiceCIDR, entryAuthorization, entryCheck); err != nil {
		return err
	}
	taken := map[byte]string{}
	for _, octets := range []map[string]byte{l.VirtualIPs, l.Addresses} {
		for _, name := range slices.Sorted(maps.Keys(octets)) {
			if other, twice := taken[octets[name]]; twice {
				return fmt.Errorf("%s and %s both have .%d", other, name, octets[name])
			}
			taken[octets[name]] = name
		}
	}
	for _, p := range slices.Concat(l.PastVirtualIPs, l.PastAddresses) {
		if other, twice := taken[p.Octet]; twice {
			return fmt.Errorf("%s has .%d, and %s had it before", other, p.Octet, p.Name)
		}
		taken[p.Octet] = p.Name
	}
	return faithful(entries, l.Entries())
}

// complete tells which of the entries that every ledger has is missing.
func complete(entries []resource.Entry, names ...string) error {
	for _, name := range names {
		if !slices.ContainsFunc(entries, func(e resource.Entry) bool { return e.Name == name && e.Value != "" }) {
			return fmt.Errorf("entry %s is missing, read %s", name, brief(entries))
		}
	}
	return nil
}

// faithful tells whether entries are those that would be written, in whatever order
// they come, check and all.
func faithful(entries, written []resource.Entry) error {
	check := resource.Entry{Name: entryCheck, Value: checksum(entries)}
	switch {
	case slices.Equal(slices.SortedFunc(slices.Values(entries), byName), written):
		return nil
	case !slices.Contains(entries, check):
		return fmt.Errorf("the check does not fit the other entries, read %s", brief(entries))
	default:
		return fmt.Errorf("the entries are not written as vpnctl writes them, read %s", brief(entries))
	}
}

// shown is how much of a ledger an error shows, in bytes.
const shown = 300

// brief is what was read, in the order of names.
func brief(entries []resource.Entry) string {
	var lines []string
	for _, e := range slices.SortedFunc(slices.Values(entries), byName) {
		lines = append(lines, e.Name+"="+e.Value)
	}
	if len(lines) == 0 {
		return "nothing"
	}
	text := strings.Join(lines, " ")
	if len(text) > shown {
		text = strings.ToValidUTF8(text[:shown], "") + "…"
	}
	return text
}
