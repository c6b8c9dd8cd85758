package openstack

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/alloc"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/state"
)

// objection gathers what speaks against taking a gateway over.
type objection struct {
	*takeover
	found []plan.Refusal
}

func (o *objection) say(k resource.Kind, hint, format string, args ...any) {
	r := plan.Refusal{Owner: o.Owner, Message: fmt.Sprintf(format, args...), Hint: hint}
	if k != "" {
		r.ID = idOf(k, o.Owner)
	}
	o.found = append(o.found, r)
}

// against are the reasons for which nothing of a gateway is taken over: it is all or
// nothing, and as it stands. What is to change can be changed afterwards.
func (v *view) against(t *takeover) []plan.Refusal {
	o := &objection{takeover: t}
	objects := v.objects(t)
	switch {
	case len(objects) == 0 && (t.begun || !t.told):
		return nil
	case len(objects) == 0:
		o.nothing()
		return o.found
	case t.gateway == nil && !t.begun:
		o.say("", "let the operator remove it, or remove these by hand: the manifest stays until nothing carries the tag",
			"an operator made it, and it was never taken over: %s its tag", carry(objects))
		return o.found
	case t.gateway == nil:
		o.say("", "put its manifest back and apply; once all of it is taken over, it can be removed",
			"taking it over from an operator was cut off: %s still its tag, and its manifest is gone", carry(objects))
		return o.found
	case !t.begun && !v.stopped:
		o.say("", "stop the operator for good, and plan with --operator-stopped: what it made is then taken over",
			"an operator made it, and may be at work: %s its tag", carry(objects))
		return o.found
	}
	for _, x := range objects {
		v.strange(o, x)
	}
	v.doubled(o)
	if !t.begun && len(o.found) == 0 {
		v.status(o)
		v.standing(o)
		v.asWritten(o)
	}
	return o.found
}

// nothing: a file tells of a gateway that isn't here.
func (o *objection) nothing() {
	if o.Problem == "" && !o.ServiceCIDR.IsValid() && !o.FloatingIP.IsValid() && !o.PortAddress.IsValid() {
		return // the operator has not begun with it
	}
	o.say("", "log in to the project in which the operator made it; or take it out of the file, to have it made anew with other addresses",
		"an operator made it, but nothing in this project carries its UID %s", o.UID)
}

// found is an object that an operator made, for sentences.
type found struct {
	kind    resource.Kind
	label   string
	project string
	tags    []string
}

func (v *view) objects(t *takeover) []found {
	var all []found
	for _, g := range t.groups {
		all = append(all, found{resource.KindSecurityGroup, "security group " + g.ID, g.Project, g.Tags})
	}
	for _, p := range t.ports {
		all = append(all, found{resource.KindPort, "port " + p.ID, p.Project, p.Tags})
	}
	for _, f := range t.floats {
		all = append(all, found{resource.KindFloatingIP, "floating IP " + f.Address, f.Project, f.Tags})
	}
	return all
}

// carry says of objects that they carry something.
func carry(objects []found) string {
	labels := make([]string, 0, len(objects))
	for _, x := range objects {
		labels = append(labels, x.label)
	}
	if len(labels) == 1 {
		return labels[0] + " carries"
	}
	return strings.Join(labels, ", ") + " carry"
}

// strange looks at whose an object is besides.
func (v *view) strange(o *objection, x found) {
	uids := state.OperatorUIDs(x.tags)
	switch m := marked(v.manifest.Name, x.tags); {
	case x.project != v.router.Project:
		o.say(x.kind, "take the tag off it there", "%s carries the operator's tag of UID %s, but stands in another project (%s)", x.label, o.UID, x.project)
	case len(uids) > 1:
		o.say(x.kind, "leave the tag of the one whose it is", "%s carries an operator's tags of %d UIDs: %s", x.label, len(uids), strings.Join(uids, ", "))
	case m != "":
		o.say(x.kind, "take the tags off it that are not its own", "%s carries the operator's tag of UID %s, and the tags of %s", x.label, o.UID, m)
	}
}

// doubled looks for what a gateway has one of. An operator that is started again makes its
// objects once more.
func (v *view) doubled(o *objection) {
	hint := "delete the one that isn't in use by hand"
	if o.begun {
		hint = "an operator that is at work again made it: stop it, and " + hint
	}
	groups, ports, floats := o.ids(v)
	for _, x := range []struct {
		kind resource.Kind
		ids  []string
	}{{resource.KindSecurityGroup, groups}, {resource.KindPort, ports}, {resource.KindFloatingIP, floats}} {
		if len(x.ids) > 1 {
			o.say(x.kind, hint, "%ss %s are all its own, by the UID %s: it has one of them", words(x.kind), strings.Join(x.ids, ", "), o.UID)
		}
	}
}

// ids are the gateway's objects, by our tags and by the operator's.
func (o *objection) ids(v *view) (groups, ports, floats []string) {
	for _, g := range v.groups {
		if o.begun && v.ours(g) && g.Owner == o.Owner {
			groups = append(groups, g.ID)
		}
	}
	for _, g := range o.groups {
		groups = append(groups, g.ID)
	}
	for _, p := range v.ports {
		if v.owned(o.takeover, p.Tags) {
			ports = append(ports, p.ID)
		}
	}
	for _, p := range o.ports {
		ports = append(ports, p.ID)
	}
	for _, f := range v.floats {
		if v.owned(o.takeover, f.Tags) {
			floats = append(floats, f.Address)
		}
	}
	for _, f := range o.floats {
		floats = append(floats, f.Address)
	}
	return groups, ports, floats
}

// status looks at whether the status can be accepted as the ledger.
func (v *view) status(o *objection) {
	hint := "export the manifest together with its status, as it was when the operator was stopped"
	switch {
	case len(o.groups) == 0:
		in := "the group that its port is in"
		if len(o.ports) > 0 && len(o.ports[0].Groups) > 0 {
			in = "the group that its port is in (" + strings.Join(slices.Sorted(slices.Values(o.ports[0].Groups)), ", ") + ")"
		}
		o.say(resource.KindSecurityGroup, "put the tag "+state.OperatorTags(o.UID)[0]+" back on "+in,
			"an operator made it, but no security group carries its UID %s", o.UID)
	case o.Problem != "":
		o.say(resource.KindSecurityGroup, hint, "its status can't be accepted as the ledger: %s", o.Problem)
	case !o.ServiceCIDR.IsValid():
		o.say(resource.KindSecurityGroup, hint, "an operator made it, but its status doesn't say which service CIDR it has")
	default:
		return
	}
	if !o.ServiceCIDR.IsValid() {
		v.uncertain = append(v.uncertain, "the service CIDR of "+o.Owner.Path()+", which an operator made, is not known")
	}
}

// standing compares the status with what stands.
func (v *view) standing(o *objection) {
	const hint = "find out which is right; the status that the operator left is in the manifest"
	if a := o.PortAddress; len(o.ports) == 0 && a.IsValid() {
		o.say(resource.KindPort, hint, "its status says that its port has %s, but no port carries its UID %s", a, o.UID)
	}
	for _, p := range o.ports {
		if a := o.PortAddress; a.IsValid() && !slices.Contains(p.addresses(), a) {
			o.say(resource.KindPort, hint, "its status says that its port has %s, but port %s has %s", a, p.ID, p.facts().PortAddress)
		}
		if p.Network != v.network.ID {
			o.say(resource.KindPort, "name that network in the Estate", "port %s is on network %s, and the Estate's gateways are on %s", p.ID, p.Network, v.network.Name)
		}
		v.routed(o, p, hint)
	}
	if a := o.FloatingIP; len(o.floats) == 0 && a.IsValid() && o.gateway.FloatingIP != a {
		o.say(resource.KindFloatingIP, "pin it (spec.endpoint.floatingIP: "+a.String()+")",
			"its status says that it has floating IP %s, which doesn't carry its UID %s: it is the customer's", a, o.UID)
	}
	for _, f := range o.floats {
		if a := o.FloatingIP; a.IsValid() && f.Address != a.String() {
			o.say(resource.KindFloatingIP, hint, "its status says that it has floating IP %s, but %s carries its UID %s", a, f.Address, o.UID)
		}
	}
}

// routed looks for ranges that lead to the port and are not in the status.
func (v *view) routed(o *objection, p port, hint string) {
	another := func(to netip.Prefix) bool {
		return to.IsValid() && to.Bits() == o.ServiceCIDR.Bits() && within(to, v.manifest.ServiceCIDRPool) && to != o.ServiceCIDR
	}
	for _, r := range v.routers {
		for _, h := range r.Routes {
			if to, hop := h.parse(); another(to) && slices.Contains(p.addresses(), hop) {
				o.say(resource.KindRoute, hint, "its status says that it has service CIDR %s, but router %s leads %s to its port", o.ServiceCIDR, cmp.Or(r.Name, r.ID), to)
			}
		}
	}
	for _, x := range p.Pairs {
		if to, plain := p.prefix(x); plain && another(to) {
			o.say(resource.KindPort, hint, "its status says that it has service CIDR %s, but its port allows %s", o.ServiceCIDR, to)
		}
	}
}

// asWritten refuses a manifest that asks for another allocation than there is: to move
// while it is taken over would leave nobody knowing what was there.
func (v *view) asWritten(o *objection) {
	const hint = "take it over as it stands first, and change it afterwards"
	if pin, pinned := alloc.Pinned(o.gateway); pinned && o.ServiceCIDR.IsValid() && pin != o.ServiceCIDR {
		o.say(resource.KindSecurityGroup, hint, "service CIDR %s is pinned, but an operator gave it %s", pin, o.ServiceCIDR)
	}
	for _, x := range slices.Concat(o.gateway.Exposures, o.gateway.ReverseExposures) {
		if had := o.VirtualIPs[x.Name]; had.IsValid() && x.VirtualIP.IsValid() && x.VirtualIP != had {
			o.say(resource.KindSecurityGroup, hint, "exposure %s pins virtual IP %s, but an operator gave it %s", x.Name, x.VirtualIP, had)
		}
	}
	if pin := o.gateway.FloatingIP; pin.IsValid() && (o.FloatingIP.IsValid() && pin != o.FloatingIP || len(o.floats) > 0 && o.floats[0].Address != pin.String()) {
		o.say(resource.KindFloatingIP, hint, "floating IP %s is pinned, but an operator gave it another one", pin)
	}
	for _, p := range o.gateway.Peers {
		if p.RoadWarrior && !p.TunnelIP.IsValid() {
			o.say(resource.KindSecurityGroup, "pin the address that its device has (spec.wireguard.address)",
				"peer %s has a tunnel address that an operator chose, and no status tells which", p.Name)
		}
	}
}
