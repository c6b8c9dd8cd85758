package openstack

import (
	"context"
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// scene is where an estate lives.
type scene struct {
	estate   string
	network  network
	subnet   subnet
	prefix   netip.Prefix // of the subnet
	known    []subnet     // other ones that the same list showed
	router   router
	external []network // the external ones among those that manifests name
}

// Locate looks up the estate's network, its subnet and its router, by name or
// ID, for those who need them before an Observe: the lock's address lies in the
// subnet. Facts.Gateways and Facts.Nodes stay empty.
func (d *Driver) Locate(ctx context.Context, e vpn.Estate) (resource.Facts, error) {
	var routers []router
	var s scene
	err := together(ctx,
		func(ctx context.Context) (err error) { routers, err = d.routers(ctx); return err },
		func(ctx context.Context) (err error) { s, err = d.networks(ctx, e); return err },
	)
	if err != nil {
		return resource.Facts{}, err
	}
	if s.router, err = ownRouter(e, routers); err != nil {
		return resource.Facts{}, err
	}
	d.remember(s)
	return s.facts(), nil
}

func (r router) id() string     { return r.ID }
func (r router) label() string  { return r.Name }
func (n network) id() string    { return n.ID }
func (n network) label() string { return n.Name }

func (s scene) facts() resource.Facts {
	gateway, _ := netip.ParseAddr(text(s.subnet.Gateway))
	return resource.Facts{NetworkID: s.network.ID, Subnet: s.prefix, SubnetGateway: gateway, RouterID: s.router.ID}
}

// remember keeps the scene for Apply.
func (d *Driver) remember(s scene) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.scene = &s
}

// here is the scene of the estate that was observed last.
func (d *Driver) here() (scene, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.scene == nil {
		return scene{}, fmt.Errorf("no estate was observed yet")
	}
	return *d.scene, nil
}

// routers lists the project's.
func (d *Driver) routers(ctx context.Context) ([]router, error) {
	return listOwn[router](ctx, d, routersPath, nil)
}

// ownRouter resolves the estate's router.
func ownRouter(e vpn.Estate, routers []router) (router, error) {
	r, err := one("router of this project", e.OpenStack.Router, routers, named[router]{router.id, router.label})
	if err != nil {
		return r, fmt.Errorf("spec.openstack.router: %w", err)
	}
	return r, nil
}

// networks resolves the transit network, with its subnet, and the floating IP
// pools that the manifests name. The estate's has to be there; one that only a
// gateway names is that gateway's problem.
func (d *Driver) networks(ctx context.Context, e vpn.Estate) (scene, error) {
	refs := []string{e.OpenStack.Network, e.OpenStack.FloatingIPPool}
	for _, g := range e.Gateways {
		refs = append(refs, g.FloatingIPPool)
	}
	all, err := d.networksNamed(ctx, refs)
	if err != nil {
		return scene{}, err
	}
	s := scene{estate: e.Name}
	for _, n := range all {
		if n.External {
			s.external = append(s.external, n)
		}
	}
	if ref := e.OpenStack.FloatingIPPool; ref != "" {
		if _, err := s.pool(ref); err != nil {
			return scene{}, fmt.Errorf("spec.openstack.floatingIPPool: %w", err)
		}
	}
	if s.network, err = one("network", e.OpenStack.Network, all, named[network]{network.id, network.label}); err != nil {
		return scene{}, fmt.Errorf("spec.openstack.network: %w", err)
	}
	return d.subnets(ctx, e, s)
}

// subnets finds the transit network's only subnet. The same call shows the others of the
// project, or where the network is another project's those of the pools, as far as they
// may be seen.
func (d *Driver) subnets(ctx context.Context, e vpn.Estate, s scene) (scene, error) {
	query := url.Values{"ip_version": {"4"}, "project_id": {d.project}}
	if s.network.Project != d.project {
		query = url.Values{"ip_version": {"4"}, "network_id": {s.network.ID}}
		for _, n := range s.external {
			query.Add("network_id", n.ID)
		}
	}
	all, err := list[subnet](ctx, d, "subnets", query)
	if err != nil {
		return scene{}, err
	}
	var own []subnet
	for _, n := range all { // whatever the list answered
		switch {
		case n.Network == s.network.ID:
			own = append(own, n)
		case n.Project == d.project || slices.ContainsFunc(s.external, func(x network) bool { return x.ID == n.Network }):
			s.known = append(s.known, n)
		}
	}
	if len(own) != 1 {
		return scene{}, fmt.Errorf("spec.openstack.network: %q has %d IPv4 subnets, the transit network needs exactly one", e.OpenStack.Network, len(own))
	}
	s.subnet = own[0]
	if s.prefix, err = netip.ParsePrefix(s.subnet.CIDR); err != nil {
		return scene{}, fmt.Errorf("subnet %s: its CIDR %q is none", s.subnet.ID, s.subnet.CIDR)
	}
	return s, nil
}

var uuid = regexp.MustCompile(`^[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}$`)

// networksNamed lists the networks that have one of these names or IDs.
func (d *Driver) networksNamed(ctx context.Context, refs []string) ([]network, error) {
	slices.Sort(refs)
	var names, ids []string
	for _, ref := range slices.Compact(refs) {
		switch {
		case ref == "":
		case uuid.MatchString(strings.ToLower(ref)):
			ids = append(ids, ref)
		default:
			names = append(names, ref)
		}
	}
	byName, err := listAny[network](ctx, d, "networks", "name", names, nil)
	if err != nil {
		return nil, err
	}
	byID, err := listAny[network](ctx, d, "networks", "id", ids, nil)
	if err != nil {
		return nil, err
	}
	for _, n := range byName { // one may have been named both ways
		byID = slices.DeleteFunc(byID, func(o network) bool { return o.ID == n.ID })
	}
	return append(byName, byID...), nil
}

// pool is the ID of a floating IP pool, by the name or ID that was written.
func (s scene) pool(ref string) (string, error) {
	n, err := one("external network", ref, s.external, named[network]{network.id, network.label})
	return n.ID, err
}

// named says what the ID and the name of a thing are.
type named[T any] struct{ id, name func(T) string }

// one finds the thing that has this ID, or else the only one that has this name.
// An error names what was looked for and found instead; the field is the
// caller's to add.
func one[T any](what, ref string, all []T, by named[T]) (T, error) {
	var hits []T
	for _, x := range all {
		if by.id(x) == ref {
			return x, nil
		}
		if by.name(x) == ref {
			hits = append(hits, x)
		}
	}
	switch len(hits) {
	case 1:
		return hits[0], nil
	case 0:
		var none T
		return none, unresolved("%q: no %s has that name or ID", ref, what)
	}
	var ids []string
	for _, x := range hits {
		ids = append(ids, by.id(x))
	}
	slices.Sort(ids)
	return hits[0], unresolved("%q: it is the name of %d, write the ID of the %s (%s)", ref, len(hits), what, strings.Join(ids, ", "))
}

// unresolvedError is an error that is cloud.ErrUnresolved and says all in its own words.
type unresolvedError string

func unresolved(format string, args ...any) error {
	return unresolvedError(fmt.Sprintf(format, args...))
}

func (e unresolvedError) Error() string        { return string(e) }
func (e unresolvedError) Is(target error) bool { return target == cloud.ErrUnresolved }
