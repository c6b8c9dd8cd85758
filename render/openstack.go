package render

import (
	"net/netip"

	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// cloud adds the OpenStack side.
func (r *rendering) cloud() {
	group, port, address := r.id(resource.KindSecurityGroup), r.id(resource.KindPort), r.id(resource.KindFloatingIP)
	r.add(resource.Resource{ID: group, SecurityGroup: &resource.SecurityGroup{
		Ledger: r.in.Ledger.Entries(),
		Rules:  rules(r.in.Gateway, r.in.Estate.InternalSourceCIDRs),
	}})
	r.add(resource.Resource{ID: port, Port: r.desiredPort()}, group)
	r.add(resource.Resource{ID: address, FloatingIP: r.desiredFloatingIP()}, port)
	if r.routed() {
		r.add(resource.Resource{ID: r.id(resource.KindRoute), Route: r.desiredRoute()}, port, address)
	}
	for _, j := range r.in.Joined {
		if j.Apart {
			continue
		}
		r.add(resource.Resource{ID: ReverseRouteID(r.in.Gateway.Owner, j.Router.ID), Route: &resource.Route{
			Router: j.Router.ID, RouterName: j.Router.Name, Destination: r.in.Ledger.ServiceCIDR, NextHop: r.port.Address, By: j.By,
		}}, port, address, LegID(j.Link))
	}
}

// ReverseRouteID names a gateway's route on a service cluster's router.
func ReverseRouteID(o vpn.Owner, router string) resource.ID {
	return resource.ID{Kind: resource.KindRoute, Namespace: o.Namespace, Name: o.Name + "@" + router}
}

// routed tells whether the service CIDR must be reachable from our side: a reverse
// exposure is called by its virtual IP.
func (r *rendering) routed() bool { return len(r.in.Gateway.ReverseExposures) > 0 }

func (r *rendering) desiredPort() *resource.Port {
	p := &resource.Port{
		Network: r.in.Facts.NetworkID,
		Address: r.port.Address,
		Node:    r.in.Node.Name,
		Server:  r.in.Node.ServerID,
	}
	if r.routed() {
		p.Pairs = []netip.Prefix{r.in.Ledger.ServiceCIDR}
	}
	return p
}

func (r *rendering) desiredFloatingIP() *resource.FloatingIP {
	pool := r.in.Gateway.FloatingIPPool
	if pool == "" {
		pool = r.in.Estate.OpenStack.FloatingIPPool
	}
	return &resource.FloatingIP{
		Pool:    pool,
		Address: r.floatingIP,
		Pinned:  r.in.Gateway.FloatingIP.IsValid() || r.in.Ledger.FloatingIP != "",
		Port:    r.id(resource.KindPort),
	}
}

func (r *rendering) desiredRoute() *resource.Route {
	return &resource.Route{
		Router:      r.in.Facts.RouterID,
		RouterName:  r.in.Estate.OpenStack.Router,
		Destination: r.in.Ledger.ServiceCIDR,
		NextHop:     r.port.Address,
	}
}

// lastOfCloud is what the Kubernetes side waits for.
func (r *rendering) lastOfCloud() []resource.ID {
	ids := []resource.ID{r.id(resource.KindPort), r.id(resource.KindFloatingIP)}
	if r.routed() {
		ids = append(ids, r.id(resource.KindRoute))
	}
	return ids
}

// applied records that everything else was reached.
func (r *rendering) applied() {
	all := r.graph.IDs()
	r.add(resource.Resource{ID: r.id(resource.KindApplied), Applied: &resource.Applied{Hash: Hash(r.in)}}, all...)
}
