package reconcile

import (
	"fmt"
	"net/netip"

	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/state"
)

// checkLock refuses an address for the lock that no port can have: without this only
// an apply would find out.
func (d *decision) checkLock() {
	if why, hint := unlockable(d.Estate.OpenStack.LockAddress, d.seen.Facts); why != "" {
		d.note(plan.Refusal{Message: why, Hint: hint})
	}
}

// unlockable says why an address that the Estate gives can't be that of the lock;
// empty where it can, as far as is known.
func unlockable(a netip.Addr, f resource.Facts) (why, hint string) {
	what, subnet := "", f.Subnet
	switch {
	case !a.IsValid() || !subnet.IsValid():
		return "", ""
	case !subnet.Contains(a):
		what = "lies outside"
	case a == subnet.Masked().Addr() || !subnet.Contains(a.Next()):
		what = "is no host's address in"
	case a == f.SubnetGateway:
		what = "is the gateway of"
	default:
		return "", ""
	}
	return fmt.Sprintf("spec.openstack.lockAddress: %s %s the transit subnet %s", a, what, subnet),
		fmt.Sprintf("remove it for the default, %s, or choose a free address of that subnet", state.LockAddress(subnet))
}

// checkTargets refuses exposures of addresses in service CIDRs that only ledgers
// know: those that lie outside the pool and that no manifest pins any more.
func (d *decision) checkTargets() {
	for _, r := range d.reserved() {
		if r.Prefix == d.seen.Facts.Subnet {
			continue
		}
		for _, g := range d.Estate.Gateways {
			for _, x := range g.Exposures {
				if a := x.Target.Address; a.IsValid() && r.Prefix.Contains(a) {
					d.note(plan.Refusal{Owner: g.Owner, Message: fmt.Sprintf("exposure %s leads to %s in %s, %s", x.Name, a, r.Prefix, r.By),
						Hint: "these are the addresses of gateways, and no service has one: name the service's own address"})
				}
			}
		}
	}
}
