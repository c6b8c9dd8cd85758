package openstack

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/state"
)

// unknown notes why it isn't known which ranges are taken.
func (j *judgement) unknown(format string, args ...any) {
	j.Unknown = append(j.Unknown, fmt.Sprintf(format, args...))
}

// unreadable refuses the owner of a ledger that another hand changed: what its
// gateway was given is programmed still, and can't be told any more.
func (j *judgement) unreadable(o vpn.Owner, g ledgered) {
	j.claimRanges(g, "%s, whose ledger can't be read", o.Path())
	j.unknown("the ledger of %s can't be read", o)
	j.problem(o, idOf(resource.KindSecurityGroup, o), "restore the tags, or use the vpnctl that wrote them",
		"the ledger on security group %s was changed by another hand: %v", g.ID, g.unreadable)
}

// elsewhere takes the ranges of a group that is no gateway's of this estate for
// taken. One that lost the tags which say whose it is says so still by its
// description, as long as that is the estate's.
func (j *judgement) elsewhere(g ledgered) {
	estate, o, described := state.ReadDescription(g.Description)
	if g.Estate == "" && described && estate == j.manifest.Name && gateway(o) {
		j.unreadable(o, g)
		return
	}
	j.claimRanges(g, "estate %s: %s", cmp.Or(g.Estate, "unknown"), cmp.Or(g.Owner.Path(), g.Name))
	if g.unreadable != nil && !g.ServiceCIDR.IsValid() && (gateway(g.Owner) || g.Owner.IsZero()) {
		j.unknown("the ledger of %s of estate %s, on security group %s, can't be read", cmp.Or(g.Owner.Path(), "a gateway"), cmp.Or(g.Estate, "unknown"), g.ID)
	}
}

// judgeBereft looks at gateways that lost their group, and with it the ledger,
// while other objects of theirs stand: a removal deletes the group last. They are
// refused, because what they would be given anew is not what is programmed. Where
// there is no manifest, they may go.
func (j *judgement) judgeBereft() {
	left := map[vpn.Owner][]string{}
	for _, p := range j.ports {
		j.bereft(left, p.Tags, "port "+p.ID)
	}
	for _, f := range j.floats {
		j.bereft(left, f.Tags, "floating IP "+f.Address)
	}
	for o, objects := range left {
		slices.Sort(objects)
		standing := strings.Join(objects, ", ")
		j.unknown("%s has no security group with a ledger any more, but still %s", o, standing)
		if _, alive := j.gateways[o]; alive {
			what, hint := j.lostGroup(o)
			j.problem(o, idOf(resource.KindSecurityGroup, o), hint, "%s; still there: %s", what, standing)
		}
	}
}

func (j *judgement) bereft(left map[vpn.Owner][]string, tags []string, what string) {
	estate, o, ours := state.ReadOwner(tags)
	if ours && estate == j.manifest.Name && gateway(o) && j.owned[o].ID == "" {
		left[o] = append(left[o], what)
	}
}

// lostGroup says what became of the group of a gateway that stands without one,
// and what to do about it. A port that is ours tells in which group it was.
func (j *judgement) lostGroup(o vpn.Owner) (what, hint string) {
	for _, g := range j.loose.groups {
		if looseFor(j.manifest.Name, o, g.Name, g.Description, g.Tags) {
			j.bereaved[o] = true
			what = fmt.Sprintf("security group %s lost its tags, and with them the ledger", g.ID)
			if use := j.groupUse(g); use != "" {
				what += "; it is in use: " + use
			}
			return what, j.restoring(resource.KindSecurityGroup, o)
		}
	}
	what = "its security group, and with it the ledger, is gone"
	if in := j.port[o].Groups; len(in) > 0 {
		what += ", or lost its tags, name or description: its port is in group " + strings.Join(slices.Sorted(slices.Values(in)), ", ")
	}
	return what, "restore the group and its tags; or take the manifest away, apply with --prune, and make the gateway anew" + j.sameRange(o)
}

// sameRange says how a gateway that is made anew gets the range that it had.
func (j *judgement) sameRange(o vpn.Owner) string {
	if p, exact := j.soleRange(o); exact {
		return fmt.Sprintf(" with serviceCIDR %s, which its port allows", p)
	}
	return ""
}

// soleRange is the one range that the owner's port allows, if it is a service
// CIDR.
func (j *judgement) soleRange(o vpn.Owner) (netip.Prefix, bool) {
	p := j.port[o]
	if len(p.Pairs) != 1 {
		return netip.Prefix{}, false
	}
	prefix, plain := p.prefix(p.Pairs[0])
	return prefix, plain && prefix.Addr().Is4() && prefix.Bits() == 24
}
