package plan

import (
	"maps"
	"net/netip"
	"strconv"
	"strings"

	"github.com/vpnctl/vpnctl/plan/alloc"
)

// reused says of a ledger's change which addresses go from one name to another, at once
// or after they were nobody's: whoever has written one down calls something else there
// from now on. Who only gets another name may keep the address.
func (d *draft) reused(p *party, c *Change) {
	if p.ledger == nil {
		return
	}
	was := past(p.ledger) // address → name of the attribute
	long := maps.Clone(was)
	for _, a := range c.Attributes {
		if _, ok := addressee(a.Name); ok && a.Before != "" {
			was[a.Before] = a.Name
		}
	}
	for _, a := range c.Attributes {
		name, ok := addressee(a.Name)
		former, known := addressee(was[a.After])
		if !ok || !known || a.After == "" || was[a.After] == a.Name {
			continue
		}
		if a.Name == attrTunnelIP+p.renamed[former] && was[a.After] == attrTunnelIP+former {
			continue
		}
		v := Verdict{Impact: ImpactCustomer, Consequence: a.After + " now leads to " + name + ", and led to " + former}
		switch address, _ := netip.ParseAddr(a.After); {
		case strings.HasPrefix(was[a.After], attrTunnelIP):
		case address.Is4() && alloc.Reverse(address.As4()[3]):
			v.Impact, v.Consequence = ImpactReload, v.Consequence+": whoever calls it on our side must follow"
		case long[a.After] != "": // nobody knows any more who reached it
			v.Customers = p.peers()
		default:
			v.Customers = d.users(p, former)
		}
		c.suffer(v)
	}
}

// past are the addresses that are nobody's, and the attribute that told of them.
func past(l *alloc.Ledger) map[string]string {
	all := map[string]string{}
	cidr := l.ServiceCIDR.String()
	for kind, list := range map[string][]alloc.Past{attrVirtualIP: l.PastVirtualIPs, attrTunnelIP: l.PastAddresses} {
		for _, p := range list {
			all[host(cidr, strconv.Itoa(int(p.Octet)))] = kind + p.Name
		}
	}
	return all
}

// addressee is who an attribute of the ledger gives an address to.
func addressee(attribute string) (name string, ok bool) {
	for _, kind := range []string{attrVirtualIP, attrTunnelIP} {
		if name, ok = strings.CutPrefix(attribute, kind); ok {
			return name, true
		}
	}
	return "", false
}
