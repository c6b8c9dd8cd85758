package plan

import (
	"cmp"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/vpnctl/vpnctl/plan/resource"
)

// ledgerAttributes are the differences of two ledgers, allocation by
// allocation, however they are spread over entries.
func ledgerAttributes(before, after []resource.Entry) []Attribute {
	if slices.Equal(before, after) {
		return nil
	}
	was, is := allocations(before), allocations(after)
	var names []string
	for name := range was {
		names = append(names, name)
	}
	for name := range is {
		if _, ok := was[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	var list []Attribute
	for _, name := range names {
		list = value(list, name, was[name], is[name])
	}
	if list == nil { // the same allocations, spread otherwise
		list = sets(nil, "ledger", entries(before), entries(after))
	}
	return list
}

func entries(list []resource.Entry) []string {
	lines := make([]string, len(list))
	for i, e := range list {
		lines[i] = e.Name + "=" + e.Value
	}
	return lines
}

// allocations reads a ledger's entries for people: the name of what was
// allocated, and what. The check over them is no allocation, and neither is who had an
// address before. Entries it does not know keep their name.
func allocations(list []resource.Entry) map[string]string {
	cidr := serviceCIDR(list)
	all := make(map[string]string, len(list))
	for _, e := range list {
		name, _, numbered := strings.Cut(e.Name, ".")
		switch {
		case numbered && name == "vips":
			octets(all, attrVirtualIP, cidr, e.Value)
		case numbered && name == "addresses":
			octets(all, attrTunnelIP, cidr, e.Value)
		case numbered && name == "peers":
			for peer := range strings.SplitSeq(e.Value, ";") {
				all[attrPeer+peer] = peer
			}
		case e.Name == "service-cidr":
			all[attrServiceCIDR] = e.Value
		case e.Name == "floating-ip":
			all[attrPinned] = e.Value
		case e.Name == "link-cidr":
			all[attrServiceCluster] = e.Value
		case e.Name == "transit-ip":
			all[attrTransitIP] = e.Value
		case e.Name == "customer-project":
			all[attrProject] = e.Value
		case e.Name == "check", numbered && name == "past-vips", numbered && name == "past-addr":
		default:
			all[e.Name] = e.Value
		}
	}
	return all
}

func octets(all map[string]string, kind, cidr, value string) {
	for pair := range strings.SplitSeq(value, ";") {
		name, octet, _ := strings.Cut(pair, ":")
		all[kind+name] = host(cidr, octet)
	}
}

// host is the address of an octet in a /24, or the octet where either can't be
// read.
func host(cidr, octet string) string {
	p, err := netip.ParsePrefix(cidr)
	n, bad := strconv.ParseUint(octet, 10, 8)
	if err != nil || bad != nil || !p.Addr().Is4() {
		return cmp.Or(octet, "?")
	}
	bytes := p.Addr().As4()
	bytes[3] = byte(n)
	return netip.AddrFrom4(bytes).String()
}

func serviceCIDR(list []resource.Entry) string {
	for _, e := range list {
		if e.Name == "service-cidr" {
			return e.Value
		}
	}
	return ""
}
