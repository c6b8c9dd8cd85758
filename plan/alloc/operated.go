package alloc

import (
	"fmt"
	"net/netip"

	"github.com/vpnctl/vpnctl/plan/vpn"
)

// Operated is a gateway as an operator left it: the UID of its manifest, which its objects
// in the cloud carry, and what its status says was allocated.
type Operated struct {
	Owner       vpn.Owner             `json:"owner"`
	UID         string                `json:"uid"`
	ServiceCIDR netip.Prefix          `json:"serviceCIDR,omitzero"`
	VirtualIPs  map[string]netip.Addr `json:"virtualIPs,omitempty"` // by exposure, of both lists
	FloatingIP  netip.Addr            `json:"floatingIP,omitzero"`
	PortAddress netip.Addr            `json:"portAddress,omitzero"`
	Node        string                `json:"node,omitempty"`
	// Problem is why its status can't be relied on, in words; empty: it can.
	Problem string `json:"problem,omitempty"`
}

// Status is what the status of a gateway's manifest says of allocations, as it is written.
type Status struct {
	ServiceCIDR string `json:"serviceCIDR"`
	FloatingIP  string `json:"floatingIP"`
	PortFixedIP string `json:"portFixedIP"`
	NodeName    string `json:"nodeName"`
	VirtualIPs  []struct {
		Name string `json:"name"`
		IP   string `json:"ip"`
	} `json:"virtualIPs"`
}

// Operated reads a status. What makes no sense is noted as the result's Problem.
func (s Status) Operated(o vpn.Owner, uid string) Operated {
	g := Operated{Owner: o, UID: uid, Node: s.NodeName}
	wrong := func(field, text, why string) {
		if g.Problem == "" {
			g.Problem = fmt.Sprintf("status.%s: %.80q %s", field, text, why)
		}
	}
	if s.ServiceCIDR != "" {
		p, err := netip.ParsePrefix(s.ServiceCIDR)
		if b, ok := block(p); err != nil || !ok || b != p {
			wrong("serviceCIDR", s.ServiceCIDR, "is no IPv4 /24")
		} else {
			g.ServiceCIDR = p
		}
	}
	address := func(field, text string) netip.Addr {
		if text == "" {
			return netip.Addr{}
		}
		a, err := netip.ParseAddr(text)
		if err != nil || !a.Is4() {
			wrong(field, text, "is no IPv4 address")
			return netip.Addr{}
		}
		return a
	}
	g.FloatingIP = address("floatingIP", s.FloatingIP)
	g.PortAddress = address("portFixedIP", s.PortFixedIP)
	holders := map[netip.Addr]string{}
	for _, v := range s.VirtualIPs {
		a := address("virtualIPs", v.IP)
		switch other, twice := holders[a]; {
		case !a.IsValid():
		case !g.ServiceCIDR.Contains(a) || !exposures.contains(lastOctet(a)) && !reverse.contains(lastOctet(a)):
			wrong("virtualIPs", v.IP, "of "+v.Name+" is no address that the service CIDR has for exposures")
		case twice && other != v.Name:
			wrong("virtualIPs", v.IP, "is both "+other+"'s and "+v.Name+"'s")
		case !Writable(v.Name):
			wrong("virtualIPs", v.Name, "is no name that can be recorded")
		default:
			if g.VirtualIPs == nil {
				g.VirtualIPs = map[string]netip.Addr{}
			}
			g.VirtualIPs[v.Name], holders[a] = a, v.Name
		}
	}
	return g
}

// Ledger is what was allocated, as if it had been written down: whose objects they were
// until they are taken over is part of it.
func (g Operated) Ledger(estate string, p vpn.Protocol) Ledger {
	l := Ledger{Estate: estate, Owner: g.Owner, Protocol: p, ServiceCIDR: g.ServiceCIDR, Adopting: g.UID}
	for name, a := range g.VirtualIPs {
		if l.VirtualIPs == nil {
			l.VirtualIPs = map[string]byte{}
		}
		l.VirtualIPs[name] = byte(lastOctet(a))
	}
	return l
}
