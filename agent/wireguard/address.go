package wireguard

import (
	"net"
	"net/netip"
)

// wgctrl speaks in the types of package net, everything else here in those of netip.

func ipNets(all []netip.Prefix) []net.IPNet {
	nets := make([]net.IPNet, len(all))
	for i, p := range all {
		nets[i] = net.IPNet{IP: p.Addr().AsSlice(), Mask: net.CIDRMask(p.Bits(), p.Addr().BitLen())}
	}
	return nets
}

func prefix(n net.IPNet) netip.Prefix {
	addr, _ := netip.AddrFromSlice(n.IP)
	ones, _ := n.Mask.Size()
	return netip.PrefixFrom(addr.Unmap(), ones)
}

func udpAddr(a netip.AddrPort) *net.UDPAddr {
	if !a.IsValid() {
		return nil
	}
	return net.UDPAddrFromAddrPort(a)
}

func addrPort(a *net.UDPAddr) netip.AddrPort {
	if a == nil {
		return netip.AddrPort{}
	}
	return unmap(a.AddrPort())
}
