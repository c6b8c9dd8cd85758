package view

import (
	"cmp"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"github.com/vpnctl/vpnctl/plan/alloc"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// Addresses are what a gateway was given and its customers have to know.
type Addresses struct {
	FloatingIP netip.Addr // zero: not known yet
	Ledger     alloc.Ledger
}

// String is "203.0.113.22 · 100.64.0.0/24 · ldap .10 · web .11 · laptop-ina .199":
// exposures first, then road warriors, each by their last octet.
func (a Addresses) String() string {
	var parts []string
	if a.FloatingIP.IsValid() {
		parts = append(parts, a.FloatingIP.String())
	}
	if a.Ledger.ServiceCIDR.IsValid() {
		parts = append(parts, a.Ledger.ServiceCIDR.String())
	}
	for _, given := range []map[string]byte{a.Ledger.VirtualIPs, a.Ledger.Addresses} {
		names := slices.SortedFunc(maps.Keys(given), func(x, y string) int {
			return cmp.Or(cmp.Compare(given[x], given[y]), strings.Compare(x, y))
		})
		for _, name := range names {
			parts = append(parts, fmt.Sprintf("%s .%d", Plain(name), given[name]))
		}
	}
	return strings.Join(parts, dot)
}

// given writes a gateway's addresses on lines of their own.
func given(o vpn.Owner, a Addresses, width int) []string {
	name := ownerName(o) + "  "
	lines := wrap(name+a.String(), width)
	for i := range lines[1:] {
		lines[i+1] = strings.Repeat(" ", length(name)) + lines[i+1]
	}
	return lines
}
