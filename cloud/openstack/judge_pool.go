package openstack

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// judgePools refuses gateways that need an address from a pool which isn't there,
// or that can't reach them, before anything of them is made. Where there is an address another pool changes
// nothing, which is said.
func (j *judgement) judgePools() {
	for _, g := range j.manifest.Gateways {
		if g.FloatingIP.IsValid() {
			continue
		}
		wanted := cmp.Or(g.FloatingIPPool, j.manifest.OpenStack.FloatingIPPool)
		pool, err := j.pool(wanted)
		id := idOf(resource.KindFloatingIP, g.Owner)
		switch has, there := j.Graph[id]; {
		case !there && err == nil && j.apart(pool) != "":
			j.problem(g.Owner, id, j.poolHint(), "a floating IP of pool %s %s", wanted, j.apart(pool))
		case there && has.FloatingIP.Port.IsZero() && j.apart(has.FloatingIP.Pool) != "":
			j.problem(g.Owner, id, "delete it by hand, or join its network to the transit subnet", "floating IP %s of network %s %s",
				has.FloatingIP.Address, j.externalName(has.FloatingIP.Pool), j.apart(has.FloatingIP.Pool))
		case !there && err != nil && g.FloatingIPPool != "":
			j.problem(g.Owner, id, "name an external network, or leave the field out for the estate's pool", "spec.endpoint.floatingIPPool: %v", err)
		case there && err == nil && !has.FloatingIP.Pinned && has.FloatingIP.Pool != pool:
			j.Notices = append(j.Notices, plan.Notice{Owner: g.Owner,
				Message: fmt.Sprintf("floating IP %s stays: pool %s counts for addresses that are allocated from now on", has.FloatingIP.Address, wanted)})
		}
	}
}

// pinReach refuses a pinned address that can't be led to the gateway's port, unless
// it leads to a port of ours already.
func (j *judgement) pinReach(o vpn.Owner, f floatingIP) {
	if _, ours := j.portOf[text(f.Port)]; ours {
		return
	}
	if why := j.apart(f.Pool); why != "" {
		j.problem(o, idOf(resource.KindFloatingIP, o), j.poolHint(), "floating IP %s of network %s %s", f.Address, j.externalName(f.Pool), why)
	}
}

// apart says why an address of an external network can't lead to the transit
// subnet; empty: it can. It takes a router that joins the two, and the pods send
// their answers to the estate's.
func (j *judgement) apart(pool string) string {
	router := cmp.Or(j.router.Name, j.router.ID)
	switch g := j.router.Gateway; {
	case g == nil || g.Network == "":
		return fmt.Sprintf("can't be associated: router %s has no external gateway", router)
	case g.Network != pool:
		return fmt.Sprintf("can't be associated: router %s has its gateway in network %s", router, j.externalName(g.Network))
	}
	return ""
}

func (j *judgement) poolHint() string {
	if g := j.router.Gateway; g != nil && g.Network != "" {
		return "use an address of network " + j.externalName(g.Network)
	}
	return "give the router a gateway in the pool's network"
}

// externalName is a network's name where it is known, else its ID.
func (s scene) externalName(id string) string {
	if i := slices.IndexFunc(s.external, func(n network) bool { return n.ID == id }); i >= 0 {
		return s.external[i].Name
	}
	return id
}
