package openstack

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/state"
)

// addresses are the floating IPs that may be one owner's.
type addresses struct {
	tagged []floatingIP // ours
	pinned []floatingIP // the manifest's pin, then the ledger's
}

// judgeFloatingIPs says which floating IP each gateway has, and what became of
// the pinned ones.
func (j *judgement) judgeFloatingIPs() {
	of := j.addressesByOwner()
	owners := make([]vpn.Owner, 0, len(of))
	for o := range of {
		owners = append(owners, o)
	}
	slices.SortFunc(owners, vpn.Owner.Compare)
	for _, o := range owners {
		j.floatingIPOf(o, of[o])
	}
}

func (j *judgement) addressesByOwner() map[vpn.Owner]addresses {
	of := map[vpn.Owner]addresses{}
	byID, byAddress := map[string]floatingIP{}, map[string]floatingIP{}
	for _, f := range slices.Concat(j.pinned, j.floats) {
		byID[f.ID], byAddress[f.Address] = f, f
	}
	for _, f := range j.floats {
		if estate, o, ours := state.ReadOwner(f.Tags); ours && estate == j.manifest.Name && gateway(o) {
			a := of[o]
			a.tagged = append(a.tagged, f)
			of[o] = a
		}
	}
	named := map[string]bool{}
	pin := func(o vpn.Owner, f floatingIP) {
		a := of[o]
		a.pinned = append(a.pinned, f)
		of[o] = a
		if !named[f.ID] {
			named[f.ID] = true
			j.pin(f)
		}
	}
	for _, g := range j.manifest.Gateways {
		if f := byAddress[g.FloatingIP.String()]; g.FloatingIP.IsValid() && f.ID != "" {
			pin(g.Owner, f)
			j.pinReach(g.Owner, f)
		}
	}
	for o, g := range j.owned {
		id := g.Ledger.FloatingIP
		if id == "" {
			continue
		}
		if f := byID[id]; f.ID != "" {
			pin(o, f)
		} else if m, alive := j.gateways[o]; alive && !m.FloatingIP.IsValid() {
			j.problem(o, idOf(resource.KindFloatingIP, o), "pin another floating IP",
				"floating IP %s, the customer's, does not exist any more", id)
		}
	}
	return of
}

func (j *judgement) pin(f floatingIP) {
	p := cloud.Pin{Ref: f.ID, Tagged: slices.Contains(f.Tags, state.ManagedTag), Holder: j.holder(f),
		Marked: marked(j.manifest.Name, f.Tags)}
	p.Address, _ = netip.ParseAddr(f.Address)
	p.Estate, _, _ = state.ReadOwner(f.Tags)
	if o, ours := j.portOf[text(f.Port)]; ours {
		p.Owner, p.Holder = o.String(), ""
	}
	j.Pins = append(j.Pins, p)
}

// marked is whom tags of ours name: the owner, with the estate where that is
// another one; empty: nobody.
func marked(estate string, tags []string) string {
	of, o, whole := state.ReadOwner(tags)
	switch {
	case whole && of == estate:
		return o.String()
	case whole:
		return fmt.Sprintf("%s of estate %s", o, of)
	case slices.Contains(tags, state.ManagedTag):
		return "somebody, but the tags don't say whom"
	}
	return ""
}

// holder says in words who holds a floating IP; empty: nobody.
func (j *judgement) holder(f floatingIP) string {
	id := text(f.Port)
	if id == "" {
		return ""
	}
	if o, ours := j.portOf[id]; ours {
		return "gateway " + o.Path()
	}
	return holder(j.holders[id], id)
}

func holder(p port, id string) string {
	if p.ID == "" {
		return fmt.Sprintf("port %s (another project's)", id)
	}
	if estate, o, ours := state.ReadOwner(p.Tags); ours {
		return fmt.Sprintf("gateway %s of estate %s", o.Path(), estate)
	}
	if _, o, described := state.ReadDescription(p.Description); described {
		return fmt.Sprintf("port %s, which has the description of %s, but lost its tags", p.ID, o.Path())
	}
	return fmt.Sprintf("port %q (not ours)", cmp.Or(p.Name, p.ID))
}

// floatingIPOf chooses what counts as the owner's floating IP:
//
//	leads to the owner's port   yes, the first of all
//	tagged                      yes, the oldest
//	the manifest's pin          yes, unless another gateway of ours holds it
//	the ledger's                likewise, while there is a manifest
//
// Tagged ones that are not chosen are left from a change that was cut off.
func (j *judgement) floatingIPOf(o vpn.Owner, a addresses) {
	slices.SortFunc(a.tagged, func(x, y floatingIP) int {
		return cmp.Or(x.Created.Compare(y.Created.Time), strings.Compare(x.ID, y.ID))
	})
	chosen, found := j.choose(o, a)
	if found {
		j.Graph.Add(j.floatingIPResource(idOf(resource.KindFloatingIP, o), o, chosen))
		address, _ := netip.ParseAddr(chosen.Address)
		j.learn(o, resource.GatewayFacts{FloatingIP: address})
	}
	for _, f := range a.tagged {
		if f.ID != chosen.ID {
			j.Graph.Add(j.floatingIPResource(second(resource.KindFloatingIP, o, f.ID), o, f))
		}
	}
}

func (j *judgement) choose(o vpn.Owner, a addresses) (floatingIP, bool) {
	own := j.port[o].ID
	for _, f := range slices.Concat(a.tagged, a.pinned) {
		if own != "" && text(f.Port) == own {
			return f, true
		}
	}
	if len(a.tagged) > 0 {
		return a.tagged[0], true
	}
	if _, alive := j.gateways[o]; !alive {
		return floatingIP{}, false // released already
	}
	for _, f := range a.pinned {
		if _, ours := j.portOf[text(f.Port)]; !ours {
			return f, true
		}
	}
	return floatingIP{}, false
}

func (j *judgement) floatingIPResource(id resource.ID, o vpn.Owner, f floatingIP) resource.Resource {
	body := &resource.FloatingIP{Pool: f.Pool, Address: f.Address, Pinned: j.customers(o, f)}
	if holder, ours := j.portOf[text(f.Port)]; ours && holder == o {
		body.Port = idOf(resource.KindPort, o)
	} else {
		body.Holder = j.holder(f)
	}
	why := proof(o)
	if _, owner, tagged := state.ReadOwner(f.Tags); !tagged || owner != o {
		why = "pinned by " + o.String()
	}
	return resource.Resource{ID: id, Owner: o.String(), Ref: f.ID, Proof: why, FloatingIP: body}
}

// customers tells whether a floating IP counts as the customer's: it does not
// carry our tags; or the tags are on it still, but its gateway goes while a
// ledger or another manifest says that it is the customer's.
func (j *judgement) customers(o vpn.Owner, f floatingIP) bool {
	if _, owner, tagged := state.ReadOwner(f.Tags); !tagged || owner != o {
		return true
	}
	if _, alive := j.gateways[o]; alive {
		return false
	}
	if j.owned[o].Ledger.FloatingIP == f.ID {
		return true
	}
	for _, g := range j.manifest.Gateways {
		if g.FloatingIP.IsValid() && g.FloatingIP.String() == f.Address {
			return true
		}
	}
	return false
}
