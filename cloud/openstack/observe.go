package openstack

import (
	"context"
	"maps"
	"net/netip"
	"net/url"
	"slices"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/alloc"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/state"
)

// manyPins is from how many pinned floating IPs on the whole project is listed
// instead of asking for each of them.
const manyPins = 100

// view is everything that was read, before it is judged.
type view struct {
	scene
	abroad
	manifest  vpn.Estate
	leftovers bool // cloud.Scope's

	groups  []ledgered   // every estate's
	ports   []port       // every estate's
	floats  []floatingIP // every estate's
	routers []router     // the project's

	pinned  []floatingIP        // floating IPs that a manifest or a ledger names
	transit []port              // the transit network's, whosever; listed while a link has no leg
	hops    map[netip.Addr]port // who holds an address that is, or may be, a next hop
	holders map[string]port     // who holds a pinned floating IP, by port ID
	beside  []floatingIP        // what leads to ports of ours and was in no other list
	loose   cutOff              // what is described as ours and lost its tags, or never had them
	users   map[string][]string // by group ID: the ports that are known to be in it

	takeovers []*takeover       // gateways that an operator may have made
	stopped   bool              // no operator looks after them
	adopting  map[string]string // by ID of what is to be adopted: the rule
	refusals  []plan.Refusal    // why nothing of a gateway can be taken over
	claims    []alloc.Claim     // what their statuses say
	uncertain []string          // why it is not known what they have
}

// ledgered is a group and what its tags say.
type ledgered struct {
	group
	alloc.Ledger
	link       alloc.LinkLedger // a link's; its Ledger names the owner alone
	unreadable error            // why the ledger can't be relied on
	operators  map[string]bool  // rules, by ID, that an operator made: ours from now on
}

// cutOff are untagged objects with descriptions like ours.
type cutOff struct {
	groups []group
	ports  []port
	floats []floatingIP
}

// Observe reads the project's objects in lists that run side by side, then what
// those point at: pinned floating IPs by ID, holders of next hops and of pinned
// addresses, and what manifests ask for and no list has shown. It costs six to
// fourteen calls of one page each, whatever the size of the estate; six where
// nothing is missing and nothing pinned; three more lists, parted by the length of their
// URLs, while gateways are taken over from an operator. Links into customers' projects add
// two lists, and each of them two more and a login with the customer's credential.
func (d *Driver) Observe(ctx context.Context, e vpn.Estate, s cloud.Scope) (*cloud.Observation, error) {
	v := &view{manifest: e, leftovers: s.Leftovers}
	if err := together(ctx, d.lists(v, s)...); err != nil {
		return nil, err
	}
	var err error
	if v.router, err = ownRouter(e, v.routers); err != nil {
		return nil, err
	}
	v.keepOurs()
	d.remember(v.scene)
	if err := d.operated(ctx, v, s); err != nil {
		return nil, err
	}
	v.takeOver()
	d.rememberTakeovers(v.takeovers)
	if err := d.lookAcross(ctx, v); err != nil {
		return nil, err
	}
	more := []func(context.Context) error{
		func(ctx context.Context) error { return d.pinnedByLedger(ctx, v) },
		func(ctx context.Context) error { return d.nextHops(ctx, v) },
	}
	if v.legless() {
		more = append(more, func(ctx context.Context) (err error) {
			v.transit, err = list[port](ctx, d, portsPath, url.Values{"network_id": {v.network.ID}})
			return err
		})
	}
	if !s.Leftovers { // with them, all that could be missing was listed
		more = append(more, d.lookFor(v, v.missing())...)
	}
	if err := together(ctx, more...); err != nil {
		return nil, err
	}
	v.keepLoose()
	err = together(ctx,
		func(ctx context.Context) error { return d.pinHolders(ctx, v) },
		func(ctx context.Context) error { return d.besides(ctx, v) })
	if err != nil {
		return nil, err
	}
	o := judge(v)
	o.Now = d.now()
	return o, nil
}

// lists are the calls that depend on no other.
func (d *Driver) lists(v *view, s cloud.Scope) []func(context.Context) error {
	managed := managed()
	all := []func(context.Context) error{
		func(ctx context.Context) (err error) { v.groups, err = d.ledgers(ctx); return err },
		func(ctx context.Context) (err error) {
			v.ports, err = listOwn[port](ctx, d, portsPath, managed)
			return err
		},
		func(ctx context.Context) (err error) {
			v.floats, err = listOwn[floatingIP](ctx, d, floatsPath, managed)
			return err
		},
		func(ctx context.Context) (err error) { v.routers, err = d.routers(ctx); return err },
		func(ctx context.Context) (err error) { v.scene, err = d.networks(ctx, v.manifest); return err },
		func(ctx context.Context) (err error) { v.pinned, err = d.pinnedByManifest(ctx, v.manifest); return err },
	}
	if !s.Leftovers {
		return all
	}
	loose := untagged()
	return append(all,
		func(ctx context.Context) (err error) {
			v.loose.groups, err = listOwn[group](ctx, d, groupsPath, loose)
			return err
		},
		func(ctx context.Context) (err error) {
			v.loose.ports, err = listOwn[port](ctx, d, portsPath, loose)
			return err
		},
		func(ctx context.Context) (err error) {
			v.loose.floats, err = listOwn[floatingIP](ctx, d, floatsPath, loose)
			return err
		},
	)
}

// keepOurs drops what does not carry the managed tag, whatever the lists answered.
func (v *view) keepOurs() {
	v.ports = slices.DeleteFunc(v.ports, func(p port) bool { return !managedBy(p.Tags) })
	v.floats = slices.DeleteFunc(v.floats, func(f floatingIP) bool { return !managedBy(f.Tags) })
}

func (d *Driver) pinnedByManifest(ctx context.Context, e vpn.Estate) ([]floatingIP, error) {
	var pins []string
	for _, g := range e.Gateways {
		if g.FloatingIP.IsValid() {
			pins = append(pins, g.FloatingIP.String())
		}
	}
	return d.floatsWith(ctx, "floating_ip_address", pins, func(f floatingIP) string { return f.Address })
}

// floatsWith lists the project's floating IPs that have one of the values.
func (d *Driver) floatsWith(ctx context.Context, attribute string, values []string, of func(floatingIP) string) ([]floatingIP, error) {
	if len(values) <= manyPins {
		some, err := listAny[floatingIP](ctx, d, floatsPath, attribute, values, url.Values{"project_id": {d.project}})
		return own(d, some), err
	}
	all, err := listOwn[floatingIP](ctx, d, floatsPath, nil)
	wanted := make(map[string]bool, len(values))
	for _, v := range values {
		wanted[v] = true
	}
	return slices.DeleteFunc(all, func(f floatingIP) bool { return !wanted[of(f)] }), err
}

// pinnedByLedger adds the customers' floating IPs that only a ledger names.
func (d *Driver) pinnedByLedger(ctx context.Context, v *view) error {
	known := map[string]bool{}
	for _, f := range slices.Concat(v.pinned, v.floats) {
		known[f.ID] = true
	}
	var ids []string
	for _, g := range v.groups {
		if id := g.Ledger.FloatingIP; v.ours(g) && id != "" && !known[id] {
			ids = append(ids, id)
		}
	}
	more, err := d.floatsWith(ctx, "id", ids, func(f floatingIP) string { return f.ID })
	v.pinned = append(v.pinned, more...)
	return err
}

// nextHops asks who holds the next hops of routes to our service CIDRs, as far as
// our own ports don't.
func (d *Driver) nextHops(ctx context.Context, v *view) error {
	v.hops = holdersOf(v.ports)
	maps.Copy(v.hops, v.theirHops())
	cidrs := map[netip.Prefix]bool{}
	for _, l := range v.groups {
		if v.ours(l) {
			for _, p := range l.Ranges() {
				cidrs[p] = true
			}
		}
		if v.ownLink(l) {
			cidrs[l.link.CIDR] = true
		}
	}
	for _, l := range v.manifest.Links {
		cidrs[l.CIDR] = true
	}
	var unknown []string
	for _, r := range v.allRouters() {
		for _, h := range r.Routes {
			to, hop := h.parse()
			if _, known := v.hops[hop]; cidrs[to] && !known && v.prefix.Contains(hop) {
				unknown = append(unknown, "ip_address="+hop.String())
			}
		}
	}
	slices.Sort(unknown)
	on := url.Values{"network_id": {v.network.ID}}
	found, err := listAny[port](ctx, d, portsPath, "fixed_ips", slices.Compact(unknown), on)
	maps.Copy(v.hops, holdersOf(found))
	return err
}

func holdersOf(ports []port) map[netip.Addr]port {
	holders := make(map[netip.Addr]port, len(ports))
	for _, p := range ports {
		for _, a := range p.addresses() {
			holders[a] = p
		}
	}
	return holders
}

// pinHolders asks which ports hold floating IPs that no port of ours holds, for
// their names.
func (d *Driver) pinHolders(ctx context.Context, v *view) error {
	v.holders = map[string]port{}
	for _, p := range v.ports {
		v.holders[p.ID] = p
	}
	var ids []string
	for _, f := range slices.Concat(v.pinned, v.floats, v.loose.floats) {
		if id := text(f.Port); id != "" && v.holders[id].ID == "" {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	found, err := listAny[port](ctx, d, portsPath, "id", slices.Compact(ids), nil)
	for _, p := range found {
		v.holders[p.ID] = p
	}
	return err
}

// managed is the query for what vpnctl made.
func managed() url.Values { return url.Values{"tags": {state.ManagedTag}} }

// ledgers lists the groups of every estate in the project.
func (d *Driver) ledgers(ctx context.Context) ([]ledgered, error) {
	groups, err := listOwn[group](ctx, d, groupsPath, managed())
	if err != nil {
		return nil, err
	}
	all := make([]ledgered, 0, len(groups))
	for _, g := range groups {
		l, ours, err := state.ReadLedger(g.Tags)
		if !ours {
			continue
		}
		l.Ref, l.Created = g.ID, g.Created.Time
		read := ledgered{group: g, Ledger: l, unreadable: err}
		if link(l.Owner) {
			read.link, _, read.unreadable = state.ReadLink(g.Tags)
			read.link.Ref, read.link.Created = g.ID, g.Created.Time
		}
		all = append(all, read)
	}
	return all, nil
}

// ours tells whether the ledger is one of this estate's gateways'.
func (v *view) ours(l ledgered) bool {
	return l.Estate == v.manifest.Name && gateway(l.Owner)
}

// gateway tells whether the owner is a gateway: links have objects of other
// shapes.
func gateway(o vpn.Owner) bool {
	return o.Kind == vpn.KindVPNGateway || o.Kind == vpn.KindIPsecGateway
}

// ownLink tells whether the ledger is one of this estate's links'.
func (v *view) ownLink(l ledgered) bool { return l.Estate == v.manifest.Name && link(l.Owner) }

// legless tells whether a link of our own project with a manifest has no leg yet, and so
// may need an address.
func (v *view) legless() bool {
	has := map[vpn.Owner]bool{}
	for _, p := range v.ports {
		if estate, o, whole := state.ReadOwner(p.Tags); whole && estate == v.manifest.Name {
			has[o] = true
		}
	}
	return slices.ContainsFunc(v.manifest.Links, func(l vpn.Link) bool { return !l.Cross() && !has[l.Owner] })
}

func (p port) addresses() []netip.Addr {
	var all []netip.Addr
	for _, f := range p.FixedIPs {
		if a, err := netip.ParseAddr(f.Address); err == nil {
			all = append(all, a)
		}
	}
	return all
}

// parse gives zero values for what is no route of IP addresses.
func (h hop) parse() (netip.Prefix, netip.Addr) {
	to, _ := netip.ParsePrefix(h.Destination)
	hop, _ := netip.ParseAddr(h.NextHop)
	return to, hop
}

// idOf is the resource that a gateway has one of.
func idOf(k resource.Kind, o vpn.Owner) resource.ID {
	return resource.ID{Kind: k, Namespace: o.Namespace, Name: o.Name}
}
