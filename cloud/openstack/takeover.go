package openstack

import (
	"slices"

	"github.com/vpnctl/vpnctl/plan/alloc"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/state"
)

// unfinished is the rule for what carries our tags by now and not all of our marks.
const unfinished = "taken over from an operator, but not wholly yet"

// takeOver puts what an operator made into the view as if it were ours, where nothing
// speaks against it: it is judged like that, and marked as to be adopted in the end.
//
//	its ledger   an operator's objects   → what is done
//	none         none                    nothing: it is new, unless a file says otherwise
//	none         its group, and others   they are to be adopted, all together
//	ours, begun  some                    they are to be adopted
//	ours, begun  none                    what lacks some mark of ours is to be adopted
func (v *view) takeOver() {
	v.adopting = map[string]string{}
	for _, t := range v.takeovers {
		problems := v.against(t)
		v.refusals = append(v.refusals, problems...)
		if !t.begun && t.ServiceCIDR.IsValid() {
			v.claims = append(v.claims, alloc.Claim{Prefix: t.ServiceCIDR, By: t.Owner.String() + ", which an operator made", Owner: t.Owner})
		}
		switch {
		case len(problems) > 0 || t.gateway == nil:
		case t.begun:
			v.goOn(t)
			v.admit(t)
		case len(t.groups) > 0:
			v.begin(t)
			v.admit(t)
		}
	}
}

// begin admits the group, with the ledger that the status is accepted as.
func (v *view) begin(t *takeover) {
	g := t.groups[0]
	l := t.Ledger(v.manifest.Name, t.gateway.Protocol)
	l.Ref, l.Created = g.ID, g.Created.Time
	v.adopting[g.ID] = operatorsTag(g.Tags)
	g.Tags = state.Merge(state.WithoutOperator(g.Tags), state.LedgerTags(l))
	v.groups = append(v.groups, ledgered{group: g, Ledger: l, operators: v.operators(t, g)})
}

// admit admits the port and the floating IP.
func (v *view) admit(t *takeover) {
	ours := state.Tags(v.manifest.Name, t.Owner)
	for _, p := range t.ports {
		v.adopting[p.ID] = operatorsTag(p.Tags)
		p.Tags = state.Merge(state.WithoutOperator(p.Tags), ours)
		v.ports = append(v.ports, p)
	}
	for _, f := range t.floats {
		v.adopting[f.ID] = operatorsTag(f.Tags)
		f.Tags = state.Merge(state.WithoutOperator(f.Tags), ours)
		v.floats = append(v.floats, f)
	}
}

// goOn finds what is ours by its tags, while its name, its description or its rules are
// still an operator's.
func (v *view) goOn(t *takeover) {
	name, description := state.Name(t.Owner), state.Description(v.manifest.Name, t.Owner)
	for i, g := range v.groups {
		if !v.ours(g) || g.Owner != t.Owner {
			continue
		}
		v.groups[i].operators = v.operators(t, g.group)
		if g.Name != name || g.Description != description || len(v.groups[i].operators) > 0 {
			v.adopting[g.ID] = unfinished
		}
	}
	for _, p := range v.ports {
		if v.owned(t, p.Tags) && (p.Name != name || p.Description != description) {
			v.adopting[p.ID] = unfinished
		}
	}
	for _, f := range v.floats {
		if v.owned(t, f.Tags) && f.Description != description {
			v.adopting[f.ID] = unfinished
		}
	}
}

// owned tells whether tags of ours name the gateway.
func (v *view) owned(t *takeover, tags []string) bool {
	estate, o, whole := state.ReadOwner(tags)
	return whole && estate == v.manifest.Name && o == t.Owner
}

// operators are the rules of a group, by ID, that an operator makes: what lets the peers
// in, and reverse exposures. Whatever else stands there is another hand's.
func (v *view) operators(t *takeover, g group) map[string]bool {
	made := map[string]bool{}
	for _, r := range g.Rules {
		if !ourRule(r) && v.operatorsRule(t, canonical(r)) {
			made[r.ID] = true
		}
	}
	return made
}

func (v *view) operatorsRule(t *takeover, r resource.Rule) bool {
	if r.Direction != "ingress" || r.Ether != "IPv4" || r.Group != "" {
		return false
	}
	if r.Remote.IsValid() && slices.Contains(v.manifest.InternalSourceCIDRs, r.Remote) {
		return true // a reverse exposure
	}
	if r.Protocol != "udp" || r.From != r.To {
		return false
	}
	host := r.Remote.IsValid() && r.Remote.Bits() == r.Remote.Addr().BitLen()
	if w := t.gateway.WireGuard; w != nil {
		return r.From == w.ListenPort && (host || !r.Remote.IsValid())
	}
	return host && (r.From == ikePort || r.From == natPort)
}

// Ports that IPsec peers call.
const ikePort, natPort = 500, 4500

// operatorsTag is why an object may be taken over: the operator's tag on it.
func operatorsTag(tags []string) string {
	for _, t := range tags {
		if len(state.OperatorUIDs([]string{t})) > 0 {
			return "made by an operator for the same manifest: tag " + t
		}
	}
	return unfinished
}

// judgeTakeovers marks what is to be adopted. It has no ledger and no mark of ours yet.
func (j *judgement) judgeTakeovers() {
	for id, r := range j.Graph {
		why, adopts := j.adopting[r.Ref]
		switch {
		case !adopts || r.SecurityGroup == nil && r.Port == nil && r.FloatingIP == nil:
			continue
		case r.SecurityGroup != nil && why != unfinished:
			body := *r.SecurityGroup
			body.Ledger = nil
			r.SecurityGroup = &body
		}
		r.Proof, r.Adopt = "", why
		j.Graph[id] = r
	}
}
