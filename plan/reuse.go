package plan

import (
	"strings"

	"github.com/vpnctl/vpnctl/plan/alloc"
)

// reused says of a ledger's change which addresses go from one name to another:
// whoever has written one down calls something else there from now on. Who only gets
// another name may keep the address.
func (d *draft) reused(p *party, c *Change) {
	if p.ledger == nil {
		return
	}
	was := map[string]string{} // address → name of the attribute
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
		switch octet := p.ledger.VirtualIPs[former]; {
		case strings.HasPrefix(was[a.After], attrTunnelIP):
		case alloc.Reverse(octet):
			v.Impact, v.Consequence = ImpactReload, v.Consequence+": whoever calls it on our side must follow"
		default:
			v.Customers = d.users(p, former)
		}
		c.suffer(v)
	}
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
