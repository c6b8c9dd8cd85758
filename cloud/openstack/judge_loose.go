package openstack

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/state"
)

// judgeLoose looks at untagged objects that have our description. A pristine one
// is a create that was cut off before the tags; one that is in use has lost its
// tags by another hand, and is nobody's to delete.
func (j *judgement) judgeLoose() {
	pinned := map[string]bool{}
	for _, f := range j.pinned {
		pinned[f.ID] = true
	}
	slices.SortFunc(j.loose.groups, func(a, b group) int { return older(a.Created, b.Created, a.ID, b.ID) })
	for _, g := range j.loose.groups {
		rules, foreign := sift(g.Rules)
		j.cutOff(looseObject{resource.KindSecurityGroup, g.ID, g.ID, g.Name, g.Description, g.Tags, j.groupUse(g)},
			resource.Resource{SecurityGroup: &resource.SecurityGroup{Rules: rules, Foreign: foreign}})
	}
	slices.SortFunc(j.loose.ports, func(a, b port) int { return older(a.Created, b.Created, a.ID, b.ID) })
	for _, p := range slices.Concat(j.loose.ports, j.looseTheirs()) {
		if _, o, _ := state.ReadDescription(p.Description); link(o) {
			j.looseLeg(p)
			continue
		}
		body := &resource.Port{Network: p.Network, Groups: p.Groups}
		body.Server, _ = p.server()
		if f := p.facts(); f.PortAddress.IsValid() {
			body.Address = f.PortAddress.String()
		}
		j.cutOff(looseObject{resource.KindPort, p.ID, p.ID, p.Name, p.Description, p.Tags, j.portUse(p)}, resource.Resource{Port: body})
	}
	slices.SortFunc(j.loose.floats, func(a, b floatingIP) int { return older(a.Created, b.Created, a.ID, b.ID) })
	for _, f := range j.loose.floats {
		if pinned[f.ID] {
			continue
		}
		body := &resource.FloatingIP{Pool: f.Pool, Address: f.Address, Holder: j.holder(f)}
		use := ""
		if body.Holder != "" {
			use = "it leads to " + body.Holder
		}
		j.cutOff(looseObject{resource.KindFloatingIP, f.ID, f.Address + " (" + f.ID + ")", "", f.Description, f.Tags, use}, resource.Resource{FloatingIP: body})
	}
}

// groupUse says what keeps a group from being a create that was cut off; empty:
// nothing.
func (j *judgement) groupUse(g group) string {
	switch users := j.users[g.ID]; {
	case len(users) == 1:
		return "port " + users[0] + " is in it"
	case len(users) > 1:
		return "ports " + strings.Join(slices.Sorted(slices.Values(users)), ", ") + " are in it"
	case !untouched(g.Rules):
		return "it has rules"
	}
	return ""
}

// portUse says what has a port; empty: nothing.
func (j *judgement) portUse(p port) string {
	server, plain := p.server()
	switch {
	case !plain:
		return fmt.Sprintf("it is used as %s by %s", p.DeviceOwner, p.Device)
	case server == "":
		return ""
	}
	for _, n := range j.manifest.Kubernetes.Nodes {
		if n.ServerID == server {
			return fmt.Sprintf("it is attached to server %s (%s)", server, n.Name)
		}
	}
	return "it is attached to server " + server
}

func older(a, b moment, idA, idB string) int {
	return cmp.Or(a.Compare(b.Time), strings.Compare(idA, idB))
}

// looseObject is what looks like an owner's by its name and description.
type looseObject struct {
	kind                          resource.Kind
	ref, label, name, description string
	tags                          []string
	use                           string // what it is in use by, in words; empty: it is pristine
}

// cutOff enters a pristine object as a create that was cut off, with
// Scope.Leftovers: else its create finds it. Any other is refused by its ID, with
// what it needs to be ours again.
func (j *judgement) cutOff(x looseObject, r resource.Resource) {
	_, o, _ := state.ReadDescription(x.description)
	if !gateway(o) && !link(o) || x.kind != resource.KindFloatingIP && x.name != state.Name(o) {
		return
	}
	id := idOf(x.kind, o)
	if _, taken := j.Graph[id]; taken {
		id = second(x.kind, o, x.ref)
	}
	torn := managedBy(x.tags)
	switch {
	case x.use == "" && !torn && j.leftovers:
		r.ID, r.Owner, r.Ref, r.Proof, r.CutOff = id, o.String(), x.ref, cutOffProof, true
		j.Graph.Add(r)
	case x.use == "" && !torn, x.kind == resource.KindSecurityGroup && j.bereaved[o]:
	default:
		j.problem(o, id, j.restoring(x.kind, o), "%s", x.lost(torn))
	}
}

// lost says what is wrong with an object that another hand took tags from.
func (x looseObject) lost(torn bool) string {
	marks, what := "name and description", "lost its tags"
	if x.kind == resource.KindFloatingIP {
		marks = "description"
	}
	if torn {
		what = "its tags say no more whose it is"
	}
	s := fmt.Sprintf("%s %s has the %s of the gateway's, but %s", words(x.kind), x.label, marks, what)
	if x.use != "" {
		s += "; it is in use: " + x.use
	}
	return s
}

// restoring says what makes an object ours again that lost its tags. Those of a
// ledger are known to nobody here.
func (j *judgement) restoring(k resource.Kind, o vpn.Owner) string {
	tags := strings.Join(state.Tags(j.manifest.Name, o), ", ")
	if k == resource.KindSecurityGroup {
		return "put its tags back (" + tags + " and the ledger's, which stand in the plan that made it), or delete by hand what there is of the gateway and make it anew" + j.sameRange(o)
	}
	return "put its tags back (" + tags + "), or delete it by hand"
}

// words is what a kind is called in a sentence.
func words(k resource.Kind) string {
	if k == resource.KindFloatingIP {
		return "floating IP"
	}
	return strings.ReplaceAll(k.Short(), "-", " ")
}

// looseFor tells whether the object is a create for that owner that was cut off.
func looseFor(estate string, o vpn.Owner, name, description string, tags []string) bool {
	return name == state.Name(o) && description == state.Description(estate, o) && !slices.Contains(tags, state.ManagedTag)
}
