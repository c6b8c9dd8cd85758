package openstack

import (
	"cmp"
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
		j.cutOff(looseObject{resource.KindSecurityGroup, g.ID, g.Name, g.Description, !j.used[g.ID] && untouched(g.Rules)},
			resource.Resource{SecurityGroup: &resource.SecurityGroup{Rules: rules, Foreign: foreign}})
	}
	slices.SortFunc(j.loose.ports, func(a, b port) int { return older(a.Created, b.Created, a.ID, b.ID) })
	for _, p := range j.loose.ports {
		body := &resource.Port{Network: p.Network, Groups: p.Groups}
		body.Server, _ = p.server()
		if f := p.facts(); f.PortAddress.IsValid() {
			body.Address = f.PortAddress.String()
		}
		j.cutOff(looseObject{resource.KindPort, p.ID, p.Name, p.Description, p.Device == ""}, resource.Resource{Port: body})
	}
	slices.SortFunc(j.loose.floats, func(a, b floatingIP) int { return older(a.Created, b.Created, a.ID, b.ID) })
	for _, f := range j.loose.floats {
		if pinned[f.ID] {
			continue
		}
		body := &resource.FloatingIP{Pool: f.Pool, Address: f.Address, Holder: j.holder(f)}
		j.cutOff(looseObject{resource.KindFloatingIP, f.ID, "", f.Description, text(f.Port) == ""}, resource.Resource{FloatingIP: body})
	}
}

func older(a, b moment, idA, idB string) int {
	return cmp.Or(a.Compare(b.Time), strings.Compare(idA, idB))
}

type looseObject struct {
	kind                   resource.Kind
	ref, name, description string
	pristine               bool
}

func (j *judgement) cutOff(x looseObject, r resource.Resource) {
	_, o, _ := state.ReadDescription(x.description)
	if !gateway(o) || x.kind != resource.KindFloatingIP && x.name != state.Name(o) {
		return
	}
	id := idOf(x.kind, o)
	if _, taken := j.Graph[id]; taken {
		id = second(x.kind, o, x.ref)
	}
	if !x.pristine {
		j.problem(o, id, "put the tags back, or delete it by hand",
			"%s %s has the name and description of a gateway's, but lost its tags; it is in use", strings.ReplaceAll(x.kind.Short(), "-", " "), x.ref)
		return
	}
	r.ID, r.Owner, r.Ref, r.Proof, r.CutOff = id, o.String(), x.ref, cutOffProof, true
	j.Graph.Add(r)
}

// looseFor tells whether the object is a create for that owner that was cut off.
func looseFor(estate string, o vpn.Owner, name, description string, tags []string) bool {
	return name == state.Name(o) && description == state.Description(estate, o) && !slices.Contains(tags, state.ManagedTag)
}
