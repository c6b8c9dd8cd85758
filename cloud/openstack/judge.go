package openstack

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/alloc"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/state"
)

// cutOffProof is the proof of an object whose create was cut off before it was
// tagged.
const cutOffProof = "name and description of a cut-off create, pristine"

// judgement turns a view into an observation. It makes no calls.
type judgement struct {
	*view
	*cloud.Observation
	gateways map[vpn.Owner]vpn.Gateway // those with a manifest
	links    map[vpn.Owner]bool        // those with a manifest
	owned    map[vpn.Owner]ledgered    // the group of each owner
	port     map[vpn.Owner]port        // the port of each owner
	portOf   map[string]vpn.Owner      // whose port has this ID
	bereaved map[vpn.Owner]bool        // whose group is refused already for its lost tags
}

func judge(v *view) *cloud.Observation {
	j := &judgement{
		view:        v,
		Observation: &cloud.Observation{Graph: resource.Graph{}, Facts: v.facts(), Problems: v.refusals, Claims: v.claims, Unknown: v.uncertain},
		gateways:    map[vpn.Owner]vpn.Gateway{},
		links:       map[vpn.Owner]bool{},
		owned:       map[vpn.Owner]ledgered{},
		port:        map[vpn.Owner]port{},
		portOf:      map[string]vpn.Owner{},
		bereaved:    map[vpn.Owner]bool{},
	}
	j.Sides = map[vpn.Owner]cloud.Side{}
	j.Facts.Gateways, j.Facts.Links = map[string]resource.GatewayFacts{}, map[string]resource.LinkFacts{}
	for _, l := range v.manifest.Links {
		j.links[l.Owner] = true
	}
	for _, g := range v.manifest.Gateways {
		j.gateways[g.Owner] = g
	}
	j.judgeRanges()
	j.judgeGroups()
	j.judgePorts()
	j.judgeLinks()
	j.judgeBereft()
	j.judgeFloatingIPs()
	j.judgePools()
	j.judgeRoutes()
	j.judgeLoose()
	j.judgeBeside()
	j.judgeTakeovers()
	j.sort()
	return j.Observation
}

func (j *judgement) sort() {
	slices.SortFunc(j.Ledgers, func(a, b alloc.Ledger) int { return a.Owner.Compare(b.Owner) })
	slices.SortFunc(j.Links, func(a, b alloc.LinkLedger) int { return a.Owner.Compare(b.Owner) })
	slices.SortFunc(j.Claims, func(a, b alloc.Claim) int {
		return cmp.Or(a.Prefix.Compare(b.Prefix), strings.Compare(a.By, b.By))
	})
	j.Claims = slices.Compact(j.Claims)
	slices.Sort(j.Unknown)
	slices.SortFunc(j.Pins, func(a, b cloud.Pin) int { return a.Address.Compare(b.Address) })
	slices.SortFunc(j.Problems, func(a, b plan.Refusal) int {
		return cmp.Or(a.Owner.Compare(b.Owner), a.ID.Compare(b.ID), strings.Compare(a.Message, b.Message))
	})
	slices.SortFunc(j.Notices, func(a, b plan.Notice) int {
		return cmp.Or(a.Owner.Compare(b.Owner), strings.Compare(a.Message, b.Message))
	})
}

// learn completes what is known of a gateway.
func (j *judgement) learn(o vpn.Owner, news resource.GatewayFacts) {
	j.Facts.Gateways[o.String()] = j.Facts.Gateways[o.String()].Complete(news)
}

func (j *judgement) problem(o vpn.Owner, id resource.ID, hint, format string, args ...any) {
	j.Problems = append(j.Problems, plan.Refusal{Owner: o, ID: id, Message: fmt.Sprintf(format, args...), Hint: hint})
}

func (j *judgement) claim(p netip.Prefix, format string, args ...any) {
	if p.IsValid() {
		j.Claims = append(j.Claims, alloc.Claim{Prefix: p, By: fmt.Sprintf(format, args...)})
	}
}

func (j *judgement) claimRanges(g ledgered, format string, args ...any) {
	for _, p := range g.Ranges() {
		j.claim(p, format, args...)
	}
}

// proof is what an ownership tag proves.
func proof(o vpn.Owner) string { return "tag owner=" + o.String() }

// second is the ID of a further object of a kind that an owner has one of.
func second(k resource.Kind, o vpn.Owner, ref string) resource.ID {
	id := idOf(k, o)
	id.Name += "@" + ref
	return id
}

// judgeGroups makes resources and ledgers of the estate's groups and claims of
// everybody else's. Of two groups with one owner the older one counts.
func (j *judgement) judgeGroups() {
	slices.SortFunc(j.groups, func(a, b ledgered) int {
		return cmp.Or(a.Ledger.Created.Compare(b.Ledger.Created), strings.Compare(a.ID, b.ID))
	})
	for _, g := range j.groups {
		switch {
		case g.Estate != j.manifest.Name:
			j.elsewhere(g)
		case !gateway(g.Owner) && !link(g.Owner):
		case j.owned[g.Owner].ID != "":
			j.secondGroup(g)
		default:
			j.owned[g.Owner] = g
			if link(g.Owner) {
				j.linkGroup(g)
			} else {
				j.group(g)
			}
		}
	}
}

func (j *judgement) group(g ledgered) {
	if g.unreadable != nil {
		j.unreadable(g.Owner, g)
		return
	}
	id := idOf(resource.KindSecurityGroup, g.Owner)
	j.Ledgers = append(j.Ledgers, g.Ledger)
	j.Graph.Add(g.resource(id))
	if g.Applied != "" {
		j.Graph.Add(resource.Resource{ID: idOf(resource.KindApplied, g.Owner), Owner: g.Owner.String(), Ref: g.ID,
			Proof: proof(g.Owner), Applied: &resource.Applied{Hash: g.Applied}})
	}
}

// resource is the group as it was observed.
func (g ledgered) resource(id resource.ID) resource.Resource {
	ours, foreign := g.sift()
	entries := g.Entries()
	if link(g.Owner) {
		entries = g.link.Entries()
	}
	return resource.Resource{ID: id, Owner: g.Owner.String(), Ref: g.ID, Proof: proof(g.Owner),
		SecurityGroup: &resource.SecurityGroup{Ledger: entries, Rules: ours, Foreign: foreign, Draining: g.Draining, MovingFrom: g.MovingFrom}}
}

// secondGroup is what a race without the lock left: deleted while nothing
// depends on it.
func (j *judgement) secondGroup(g ledgered) {
	_, foreign := sift(g.Rules)
	id := second(resource.KindSecurityGroup, g.Owner, g.ID)
	if len(j.users[g.ID]) > 0 || len(foreign) > 0 {
		j.problem(g.Owner, id, "delete one of the two by hand",
			"two security groups belong to %s: %s, and the younger %s, which is in use", g.Owner, j.owned[g.Owner].ID, g.ID)
		return
	}
	j.Graph.Add(g.resource(id))
}

// judgePorts makes resources of the estate's ports. Of two with one owner the
// attached one counts, then the older one.
func (j *judgement) judgePorts() {
	sortPorts(j.ports)
	for _, p := range j.ports {
		estate, o, ours := state.ReadOwner(p.Tags)
		if !ours || estate != j.manifest.Name || !gateway(o) {
			continue
		}
		j.portOf[p.ID] = o
		first, more := j.port[o]
		switch {
		case !more:
			j.port[o] = p
			j.Graph.Add(j.portResource(idOf(resource.KindPort, o), o, p))
			j.learn(o, p.facts())
		case p.Device == "":
			j.Graph.Add(j.portResource(second(resource.KindPort, o, p.ID), o, p))
		default:
			j.problem(o, second(resource.KindPort, o, p.ID), "detach and delete one of the two by hand",
				"two ports belong to %s and are attached: %s and %s", o, first.ID, p.ID)
		}
	}
}

// sortPorts brings ports into the order in which one of an owner counts before another.
func sortPorts(ports []port) {
	slices.SortFunc(ports, func(a, b port) int {
		return cmp.Or(cmp.Compare(b.attached(), a.attached()), a.Created.Compare(b.Created.Time), strings.Compare(a.ID, b.ID))
	})
}

// attached is 1 for a port that a device has, so that it sorts.
func (p port) attached() int {
	if p.Device != "" {
		return 1
	}
	return 0
}

// server is the server that has the port; false where something else has it.
func (p port) server() (string, bool) {
	if p.Device == "" || p.DeviceOwner == "" || strings.HasPrefix(p.DeviceOwner, "compute:") {
		return p.Device, true
	}
	return "", false
}

func (p port) facts() resource.GatewayFacts {
	f := resource.GatewayFacts{PortID: p.ID, MAC: strings.ToLower(p.MAC)}
	f.ServerID, _ = p.server()
	for _, a := range p.addresses() {
		if a.Is4() && !f.PortAddress.IsValid() {
			f.PortAddress = a
		}
	}
	return f
}

func (j *judgement) portResource(id resource.ID, o vpn.Owner, p port) resource.Resource {
	body := &resource.Port{Network: p.Network, Groups: slices.Sorted(slices.Values(p.Groups))}
	server, ok := p.server()
	if !ok {
		j.problem(o, id, "take it back from there by hand", "port %s is used as %s by %s", p.ID, p.DeviceOwner, p.Device)
	}
	body.Server = server
	if f := p.facts(); f.PortAddress.IsValid() {
		body.Address = f.PortAddress.String()
	}
	for _, pair := range p.Pairs {
		if prefix, ours := j.ourPair(o, p, pair); ours {
			body.Pairs = append(body.Pairs, prefix)
		} else {
			body.Foreign = append(body.Foreign, pair.Address)
		}
	}
	slices.SortFunc(body.Pairs, netip.Prefix.Compare)
	body.Misfit = "the gateway's security group is missing"
	for _, g := range body.Groups {
		if own := j.owned[o].ID; g == own {
			body.Misfit = ""
		} else {
			body.ForeignGroups = append(body.ForeignGroups, g)
		}
	}
	body.Unguarded, body.Down = off(p.Security), off(p.Up)
	slices.Sort(body.Foreign)
	return resource.Resource{ID: id, Owner: o.String(), Ref: p.ID, Proof: proof(o), Port: body}
}

// ourPair tells whether an allowed address pair is ours: the owner's service
// CIDR, or one that the owner's ledger says it still moves from. Any other pair
// was added by another hand, whatever it looks like.
func (j *judgement) ourPair(o vpn.Owner, p port, x pair) (netip.Prefix, bool) {
	prefix, plain := p.prefix(x)
	return prefix, plain && slices.Contains(j.owned[o].Ranges(), prefix)
}

// prefix is what a pair allows with the port's own MAC, which is all that a
// pair of ours does.
func (p port) prefix(x pair) (netip.Prefix, bool) {
	prefix, ok := parsePair(x.Address)
	return prefix, ok && (x.MAC == "" || strings.EqualFold(x.MAC, p.MAC))
}

// parsePair reads an address or a prefix without host bits.
func parsePair(s string) (netip.Prefix, bool) {
	if a, err := netip.ParseAddr(s); err == nil {
		return netip.PrefixFrom(a, a.BitLen()), true
	}
	p, err := netip.ParsePrefix(s)
	return p, err == nil && p == p.Masked()
}

// within tells whether p lies in or is the range.
func within(p, in netip.Prefix) bool {
	return in.IsValid() && p.Bits() >= in.Bits() && in.Contains(p.Addr())
}
