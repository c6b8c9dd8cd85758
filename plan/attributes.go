package plan

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/vpnctl/vpnctl/plan/resource"
)

// Names of the attributes that others of this package look at.
const (
	attrServiceCIDR = "service CIDR"
	attrVirtualIP   = "virtual IP " // and the exposure
	attrTunnelIP    = "tunnel IP "  // and the road warrior
	attrPeer        = "peer "       // and its name
	attrPinned      = "customer's floating IP"
	attrRules       = "rules"

	attrAuthorization = "authorization"
	attrGrants        = "grants" // the value of authorization
	attrDraining      = "draining"
	attrAddress       = "address"
	attrNetwork       = "network"
	attrNode          = "node"
	attrPairs         = "allowed address pairs"
	attrGroups        = "security groups"
	attrSecurity      = "port security"
	attrState         = "state"
	attrPort          = "port"
	attrOwnership     = "ownership"
	attrNextHop       = "next hop"
	attrDestination   = "destination"
	attrRouter        = "router"
	attrContent       = "content"
	attrPath          = "path"
	attrHash          = "hash"
)

// attributes are the differences of two resources of one kind, in a fixed order.
// Either may be nil: it has no attributes then. No difference that counts: none.
func attributes(before, after *resource.Resource) []Attribute {
	sample := cmp.Or(after, before)
	switch {
	case sample == nil:
		return nil
	case sample.SecurityGroup != nil:
		return groupAttributes(body(before, sg), body(after, sg))
	case sample.Port != nil:
		return portAttributes(body(before, port), body(after, port))
	case sample.FloatingIP != nil:
		return floatingIPAttributes(body(before, floatingIP), body(after, floatingIP))
	case sample.Route != nil:
		return routeAttributes(body(before, route), body(after, route))
	case sample.TransitLeg != nil:
		return legAttributes(body(before, leg), body(after, leg))
	case sample.NetworkShare != nil:
		return shareAttributes(body(before, share), body(after, share))
	case sample.Applied != nil:
		return appliedAttributes(body(before, applied), body(after, applied))
	case sample.Object != nil && before != nil && after != nil:
		return objectAttributes(body(before, object), body(after, object))
	}
	return nil
}

func sg(r *resource.Resource) *resource.SecurityGroup      { return r.SecurityGroup }
func port(r *resource.Resource) *resource.Port             { return r.Port }
func floatingIP(r *resource.Resource) *resource.FloatingIP { return r.FloatingIP }
func route(r *resource.Resource) *resource.Route           { return r.Route }
func leg(r *resource.Resource) *resource.TransitLeg        { return r.TransitLeg }
func share(r *resource.Resource) *resource.NetworkShare    { return r.NetworkShare }
func applied(r *resource.Resource) *resource.Applied       { return r.Applied }
func object(r *resource.Resource) *resource.Object         { return r.Object }

// body is a resource's body, zero where there is none.
func body[T any](r *resource.Resource, of func(*resource.Resource) *T) T {
	if r == nil || of(r) == nil {
		var zero T
		return zero
	}
	return *of(r)
}

func value(list []Attribute, name, before, after string) []Attribute {
	if before == after {
		return list
	}
	return append(list, Attribute{Name: name, Before: before, After: after})
}

// sets compares two lists as sets; only what differs is told, one a line. What
// stands twice on the before side and once on the after side differs as well.
func sets(list []Attribute, name string, before, after []string) []Attribute {
	count := map[string]int{}
	for _, s := range before {
		count[s]--
	}
	for _, s := range after {
		count[s]++
	}
	var gone, come []string
	for _, s := range slices.Compact(slices.Sorted(slices.Values(slices.Concat(before, after)))) {
		switch n := count[s]; {
		case n < 0:
			gone = append(gone, slices.Repeat([]string{s}, -n)...)
		case n > 0:
			come = append(come, slices.Repeat([]string{s}, n)...)
		}
	}
	return value(list, name, strings.Join(gone, "\n"), strings.Join(come, "\n"))
}

func groupAttributes(before, after resource.SecurityGroup) []Attribute {
	list := ledgerAttributes(before.Ledger, after.Ledger)
	list = sets(list, attrRules, rules(inForce(before, after)), rules(after.Rules))
	if !before.Draining.Equal(after.Draining) {
		list = value(list, attrDraining, moment(before.Draining), moment(after.Draining))
	}
	return list
}

// inForce are the rules that are ours, and those of other hands that are equal
// to a wanted one: the cloud takes no rule twice, so they stand for it.
func inForce(before, after resource.SecurityGroup) []resource.Rule {
	there := slices.Clone(before.Rules)
	for _, r := range before.Foreign {
		same := func(o resource.Rule) bool { return o.Key() == r.Key() }
		if slices.ContainsFunc(after.Rules, same) && !slices.ContainsFunc(there, same) {
			there = append(there, r)
		}
	}
	return there
}

func rules(list []resource.Rule) []string {
	lines := make([]string, len(list))
	for i, r := range list {
		lines[i] = r.String()
	}
	return lines
}

func moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return "since " + t.UTC().Format(time.RFC3339)
}

func portAttributes(before, after resource.Port) []Attribute {
	list := value(nil, attrNetwork, before.Network, after.Network)
	list = value(list, attrAddress, before.Address, settled(before.Address, after.Address))
	if after.Server != "" && before.Server != after.Server || after.Network == "" {
		list = append(list, nodes(before, after)...)
	}
	list = sets(list, attrPairs, prefixes(before.Pairs), prefixes(after.Pairs))
	if before.Misfit != "" {
		list = value(list, attrGroups, before.Misfit, "the gateway's own")
	}
	if before.Unguarded {
		list = value(list, attrSecurity, "off: every packet passes, whatever the rules say", "on")
	}
	if before.Down {
		list = value(list, attrState, "down: no packet passes", "up")
	}
	return list
}

// nodes tells where a port was and goes, by the nodes' names where they tell the
// two apart.
func nodes(before, after resource.Port) []Attribute {
	name := func(p resource.Port) string {
		if p.Server == "" {
			return ""
		}
		return cmp.Or(p.Node, p.Server)
	}
	if name(before) == name(after) {
		return value(nil, attrNode, before.Server, after.Server)
	}
	return value(nil, attrNode, name(before), name(after))
}

func prefixes(list []netip.Prefix) []string {
	lines := make([]string, len(list))
	for i, p := range list {
		lines[i] = p.String()
	}
	return lines
}

// settled is the after side of a value that the cloud chooses: where it exists
// and nobody names another, it stays.
func settled(before, after string) string {
	if after == resource.Unknown && before != "" {
		return before
	}
	return after
}

func floatingIPAttributes(before, after resource.FloatingIP) []Attribute {
	list := value(nil, attrAddress, before.Address, settled(before.Address, after.Address))
	list = value(list, attrOwnership, ownership(before), ownership(after))
	return value(list, attrPort, text(before.Port), text(after.Port))
}

func ownership(f resource.FloatingIP) string {
	switch {
	case f.Address == "":
		return ""
	case f.Pinned:
		return "the customer's"
	}
	return "vpnctl's"
}

func text(id resource.ID) string {
	if id.IsZero() {
		return ""
	}
	return id.String()
}

func routeAttributes(before, after resource.Route) []Attribute {
	var list []Attribute
	if before.Router != after.Router {
		list = value(list, attrRouter, cmp.Or(before.RouterName, before.Router), cmp.Or(after.RouterName, after.Router))
	}
	list = value(list, attrDestination, prefix(before.Destination), prefix(after.Destination))
	list = value(list, attrNextHop, before.NextHop, after.NextHop)
	return sets(list, "stale next hops", before.Stale, nil)
}

func prefix(p netip.Prefix) string {
	if !p.IsValid() {
		return ""
	}
	return p.String()
}

func objectAttributes(before, after resource.Object) []Attribute {
	list := value(nil, attrPath, before.Path, after.Path)
	if before.Live != nil && before.Live.Deleting {
		list = append(list, Attribute{Name: attrState, Before: "being deleted"})
	}
	if before.Content == after.Content {
		return list
	}
	if after.Kind == kindSecret {
		return append(list, Attribute{Name: attrContent, Before: hidden, After: hidden})
	}
	return append(list, Attribute{Name: attrContent, Diff: unified(before.Content, after.Content)})
}
