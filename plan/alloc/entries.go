package alloc

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/vpnctl/vpnctl/plan/resource"
)

// EntryLimit is the longest entry, written name=value, in characters. It is what
// Neutron's 255 characters a tag leave beside the prefix of ownership tags.
const EntryLimit = 255 - len("vpn.bnerd.net/")

// MaxName is the longest name that a ledger can hold.
const MaxName = EntryLimit - len("addresses.9999=:254")

// Names of entries. Those of the second group are numbered from 1, as many as
// it takes.
const (
	entryProtocol      = "protocol"
	entryServiceCIDR   = "service-cidr"
	entryAuthorization = "authorization"
	entryFloatingIP    = "floating-ip"
	entryCheck         = "check"

	entryVirtualIPs = "vips"
	entryAddresses  = "addresses"
	entryPeers      = "peers"

	entryPastVirtualIPs = "past-vips"
	entryPastAddresses  = "past-addr"
)

// The values of the authorization entry.
const (
	authorizationGrants = "grants"
	authorizationOpen   = "open"
)

// Writable tells whether a name can stand in a ledger: up to MaxName letters,
// digits, dots, dashes and underscores.
func Writable(name string) bool {
	if name == "" || len(name) > MaxName {
		return false
	}
	for _, c := range []byte(name) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '.', c == '-', c == '_':
		default:
			return false
		}
	}
	return true
}

// Entries are what was allocated as names and values, sorted by name, with a check
// of all the others among them. Applied, MovingFrom, Draining and Adopting are records of
// what was done and not among them. Every entry fits EntryLimit when every name is
// Writable, as Assign makes sure. Where nothing was allocated there are none.
func (l Ledger) Entries() []resource.Entry {
	var entries []resource.Entry
	add := func(name, value string) {
		if value != "" {
			entries = append(entries, resource.Entry{Name: name, Value: value})
		}
	}
	add(entryProtocol, string(l.Protocol))
	if l.ServiceCIDR.IsValid() {
		add(entryServiceCIDR, l.ServiceCIDR.String())
	}
	if l.Protocol != "" {
		add(entryAuthorization, map[bool]string{true: authorizationGrants, false: authorizationOpen}[l.Grants])
	}
	add(entryFloatingIP, l.FloatingIP)
	entries = append(entries, pack(entryVirtualIPs, pairs(l.VirtualIPs))...)
	entries = append(entries, pack(entryAddresses, pairs(l.Addresses))...)
	entries = append(entries, pack(entryPastVirtualIPs, pastPairs(l.PastVirtualIPs))...)
	entries = append(entries, pack(entryPastAddresses, pastPairs(l.PastAddresses))...)
	entries = append(entries, pack(entryPeers, slices.Compact(slices.Sorted(slices.Values(l.Peers))))...)
	if entries == nil {
		return nil
	}
	add(entryCheck, checksum(entries))
	slices.SortFunc(entries, byName)
	return entries
}

func byName(a, b resource.Entry) int {
	return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Value, b.Value))
}

// checksum is the value of the check entry beside the others, in whatever order
// they come. It finds what another hand changed and what got lost, also where the
// rest makes sense: the first 12 hexadecimal digits of the SHA-256 of the sorted
// lines name=value.
func checksum(entries []resource.Entry) string {
	var text []byte
	for _, e := range slices.SortedFunc(slices.Values(entries), byName) {
		if e.Name != entryCheck {
			text = append(append(append(append(text, e.Name...), '='), e.Value...), '\n')
		}
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:6])
}

func pairs(octets map[string]byte) []string {
	var pairs []string
	for _, name := range slices.Sorted(maps.Keys(octets)) {
		pairs = append(pairs, name+":"+strconv.Itoa(int(octets[name])))
	}
	return pairs
}

// pack joins items by semicolons into numbered entries, each as full as it gets.
func pack(base string, items []string) []resource.Entry {
	var entries []resource.Entry
	for _, item := range items {
		last := len(entries) - 1
		if last >= 0 && len(entries[last].Name)+len("=")+len(entries[last].Value)+len(";")+len(item) <= EntryLimit {
			entries[last].Value += ";" + item
			continue
		}
		entries = append(entries, resource.Entry{Name: fmt.Sprintf("%s.%d", base, len(entries)+1), Value: item})
	}
	return entries
}
