package plan

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"github.com/vpnctl/vpnctl/plan/alloc"
	"github.com/vpnctl/vpnctl/plan/resource"
)

// successor is the gateway that takes over both what the peers of another one call
// and what they reach; nil: there is none, and they must change.
func (d *draft) successor(p *party) *party {
	address, cidr := d.holdings(p)
	if !address.IsValid() || !cidr.IsValid() {
		return nil
	}
	for _, o := range d.sorted {
		if o != p && o.gateway != nil && o.gateway.FloatingIP == address && wantsRange(o.gateway, cidr) {
			return o
		}
	}
	return nil
}

// unselectedHeir finds the gateway that pins the range of one that goes, and has no part
// in this run. The virtual IPs would be gone with the old ledger before the new one
// could have them; nil: there is none, or it has the range already.
func (d *draft) unselectedHeir(p *party) *party {
	if p.ledger == nil || !p.ledger.ServiceCIDR.IsValid() {
		return nil
	}
	cidr := p.ledger.ServiceCIDR
	for _, o := range d.sorted {
		has := o.ledger != nil && o.ledger.ServiceCIDR == cidr
		if o != p && o.gateway != nil && wantsRange(o.gateway, cidr) && !has && o.line != nil && o.line.Excluded {
			return o
		}
	}
	return nil
}

// inheritance is what the peers of a gateway have to change although another one takes
// its place; nothing where all they know stays.
//
//	known from         what
//	the ledgers        protocol, virtual IPs, tunnel addresses by the same name
//	the rules          whose public address has no peer any more
//	rendered objects   identities, proposals, subnets, keys; where they are gone with
//	                   the pods, they were compared when those went
func (d *draft) inheritance(p, heir *party) Verdict {
	var v Verdict
	if p.ledger.Protocol != "" && p.ledger.Protocol != heir.gateway.Protocol {
		v.add(everyone(p, ImpactCustomer, fmt.Sprintf("it speaks %s, not %s", heir.gateway.Protocol, p.ledger.Protocol)))
		return v
	}
	d.virtualIPs(&v, p, heir)
	if d.in.Succession != nil && p.files > 0 {
		s := d.in.Succession(d.in.Observed.Of(p.text), d.in.Desired.Of(heir.text))
		if s.Impact == ImpactCustomer && len(s.Customers) == 0 {
			s.Customers = p.peers()
		}
		v.add(s)
		return v
	}
	d.callers(&v, p, heir)
	if d.in.Succession != nil && p.running() {
		v.add(everyone(p, ImpactCustomer, "what else its peers have to change is not known, because its files are not there"))
	}
	return v
}

// virtualIPs compares where the exposures of a gateway are found with where its heir
// has them.
func (d *draft) virtualIPs(v *Verdict, p, heir *party) {
	group := d.in.Desired[heir.id(resource.KindSecurityGroup)]
	will := allocations(body(&group, sg).Ledger)
	at := map[string]string{} // virtual IP → exposure
	for name, address := range will {
		if exposure, ok := strings.CutPrefix(name, attrVirtualIP); ok {
			at[address] = exposure
		}
	}
	for _, exposure := range slices.Sorted(maps.Keys(p.ledger.VirtualIPs)) {
		was, is := p.ledger.VirtualIP(exposure).String(), will[attrVirtualIP+exposure]
		words := exposure + " moves from " + was + " to " + is
		switch other := at[was]; {
		case is == was:
			continue
		case is == "" && other == "":
			words = exposure + " is no longer at " + was
		case is == "":
			words = was + " leads to " + other + ", not to " + exposure + " any more"
		}
		if alloc.Reverse(p.ledger.VirtualIPs[exposure]) {
			v.add(Verdict{Impact: ImpactReload, Consequence: words + ": whoever calls it on our side must follow"})
		} else {
			v.add(Verdict{Impact: ImpactCustomer, Customers: d.users(p, exposure), Consequence: words})
		}
	}
}

// callers compares the peers, as far as the ledger and the rules tell who they are.
func (d *draft) callers(v *Verdict, p, heir *party) {
	group := d.in.Observed[p.id(resource.KindSecurityGroup)]
	for _, name := range p.peers() {
		from := callsFrom(body(&group, sg).Rules, name)
		known := len(from) == 0 // it may call from anywhere, under whatever name it has there
		for _, x := range heir.gateway.Peers {
			known = known || from[publicAddress(x)]
		}
		if !known {
			v.add(Verdict{Impact: ImpactCustomer, Customers: []string{name}, Consequence: name + " has no tunnel with " + heir.owner.Path()})
		}
	}
	will := d.in.Desired[heir.id(resource.KindSecurityGroup)]
	is, taken := allocations(body(&will, sg).Ledger), map[string]bool{}
	for name, address := range is {
		taken[address] = taken[address] || strings.HasPrefix(name, attrTunnelIP)
	}
	for _, name := range slices.Sorted(maps.Keys(p.ledger.Addresses)) {
		was, now := p.ledger.Address(name).String(), is[attrTunnelIP+name]
		words := name + " gets the tunnel address " + now
		switch {
		case now == was || now == "" && taken[was]: // perhaps it has another name there
			continue
		case now == "":
			words = was + ", the tunnel address of " + name + ", is nobody's any more"
		}
		v.add(Verdict{Impact: ImpactCustomer, Customers: []string{name}, Consequence: words})
	}
}

// callsFrom are the addresses that the rules let a peer call from.
func callsFrom(rules []resource.Rule, peer string) map[netip.Addr]bool {
	from := map[netip.Addr]bool{}
	for _, r := range rules {
		if r.Why == peerRule+peer && r.Remote.IsSingleIP() {
			from[r.Remote.Addr()] = true
		}
	}
	return from
}

// id is the ID of the party's one resource of a kind.
func (p *party) id(k resource.Kind) resource.ID {
	return resource.ID{Kind: k, Namespace: p.owner.Namespace, Name: p.owner.Name}
}
