package openstack

import (
	"cmp"
	"net/netip"
	"slices"

	"github.com/vpnctl/vpnctl/plan/alloc"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// judgeRanges claims what no service CIDR may lie on, as far as the lists show it:
//
//	the transit subnet
//	other subnets of the project      they may be on the router
//	a pool's subnet, if it is seen
//	routers' outer addresses, and floating IPs, which show where a pool's subnet is
//
// A subnet around the whole pool claims nothing: the pool was chosen so, and routes to
// its parts are more specific.
func (j *judgement) judgeRanges() {
	j.claim(j.prefix, "transit subnet %s", j.network.Name)
	for _, s := range j.known {
		if p, err := netip.ParsePrefix(s.CIDR); err == nil && !within(j.manifest.ServiceCIDRPool, p) {
			j.claim(p, "subnet %s", cmp.Or(s.Name, s.ID))
		}
	}
	for _, r := range j.routers {
		if r.Gateway == nil {
			continue
		}
		for _, f := range r.Gateway.FixedIPs {
			j.claim(host(f.Address), "outer address of router %s", cmp.Or(r.Name, r.ID))
		}
	}
	for _, f := range slices.Concat(j.pinned, j.floats) {
		j.claim(host(f.Address), "a floating IP")
	}
}

// host is the network of one address, or none.
func host(text string) netip.Prefix {
	a, err := netip.ParseAddr(text)
	if err != nil || !a.Is4() {
		return netip.Prefix{}
	}
	return netip.PrefixFrom(a, a.BitLen())
}

// wanted tells whether a range lies where a service CIDR may: in the pool, or in one that
// a manifest pins.
func (j *judgement) wanted(p netip.Prefix) bool {
	return within(p, j.manifest.ServiceCIDRPool) || slices.ContainsFunc(j.manifest.Gateways, func(g vpn.Gateway) bool {
		pin, _ := alloc.Pinned(&g)
		return within(p, pin)
	})
}
