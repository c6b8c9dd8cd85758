package plan

import (
	"maps"
	"slices"
	"strings"

	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// access fills the reachability table: a row for every peer and exposure, and
// every peer that a reverse exposure can lead to, before or after.
func (d *draft) access() {
	yes, no := true, false
	for _, p := range d.sorted {
		t := table{party: p, after: d.reach(p), cluster: d.in.Estate.Kubernetes.Target == vpn.TargetCluster, yes: &yes, no: &no}
		t.before, t.read = d.in.Before[p.text]
		if t.read && t.after == asDesired {
			t.led, t.leads = d.targets(p)
		}
		t.exposures(false)
		t.exposures(true)
		slices.SortFunc(t.rows, func(a, b Access) int {
			if c := strings.Compare(a.Peer, b.Peer); c != 0 {
				return c
			}
			if a.Reverse != b.Reverse {
				return 2*btoi(a.Reverse) - 1
			}
			return strings.Compare(a.Exposure, b.Exposure)
		})
		d.closing(p, t.rows)
		if d.delayed(p) {
			t.hold()
		}
		d.plan.Access = append(d.plan.Access, t.rows...)
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// future is what becomes of a gateway's reachability.
type future int

const (
	unchanged future = iota // this run leaves it as it is
	asDesired
	ended
)

func (d *draft) reach(p *party) future {
	switch {
	case p.refused || p.fate == stay || d.in.Options.Only == OnlyCloud:
		return unchanged
	case p.fate == remove && (p.files > 0 || p.running()):
		return ended
	case p.fate == remove:
		return unchanged
	}
	return asDesired
}

// table is the reachability of one gateway.
type table struct {
	party  *party
	before map[string]vpn.Access
	read   bool // before is known
	after  future

	cluster bool // pods are where this plan looks, and nowhere else

	rows []Access

	led, leads map[string]vpn.Target // where exposures lead before and after; nil: nothing changes, or it is not known

	yes, no *bool
}

func (t *table) exposures(reverse bool) {
	list := t.list(reverse)
	if g := t.party.gateway; g != nil {
		for i := range g.Peers {
			peer := &g.Peers[i]
			granted := side(g.Access(*peer), reverse)
			for j := range list {
				t.desired(peer, &list[j], granted, reverse)
			}
		}
	}
	t.past(reverse, func(peer, x string) { // what the manifests no longer name
		if t.names(peer) && slices.ContainsFunc(list, func(e vpn.Exposure) bool { return e.Name == x }) {
			return
		}
		was := t.was(peer, x, reverse)
		if was.reach == nil && !was.unknown {
			return
		}
		r := Access{Gateway: t.party.owner, Peer: peer, Exposure: x, Reverse: reverse, Before: was.reach, BeforeUnknown: was.unknown}
		if t.after == unchanged {
			r.After, r.AfterUnknown = was.reach, was.unknown
		} else {
			r.Note = t.farewell(peer)
		}
		t.rows = append(t.rows, r)
	})
}

// delayed tells whether what decides on a gateway's access is held: its ruleset or its
// pod, or where neither changes all that is planned of it.
func (d *draft) delayed(p *party) bool {
	held, pending := false, false
	for _, c := range p.changes {
		decides := c.ID.Kind == kindDeployment || c.ID.Kind == kindConfigMap && strings.HasSuffix(c.ID.Name, rulesSuffix)
		if decides && c.Held != "" {
			return true
		}
		held, pending = held || c.Held != "", pending || c.Held == ""
	}
	return held && !pending
}

// list is the gateway's exposures of one direction.
func (t *table) list(reverse bool) []vpn.Exposure {
	switch g := t.party.gateway; {
	case g == nil:
		return nil
	case reverse:
		return g.ReverseExposures
	default:
		return g.Exposures
	}
}

// names tells whether the manifests name a peer.
func (t *table) names(peer string) bool {
	g := t.party.gateway
	return g != nil && slices.ContainsFunc(g.Peers, func(p vpn.Peer) bool { return p.Name == peer })
}

// desired adds the row of a peer and an exposure that the manifests name.
func (t *table) desired(peer *vpn.Peer, x *vpn.Exposure, granted []string, reverse bool) {
	was := t.was(peer.Name, x.Name, reverse)
	r := Access{Gateway: t.party.owner, Peer: peer.Name, Exposure: x.Name, Reverse: reverse, Before: was.reach, BeforeUnknown: was.unknown}
	if reverse && !peer.Serves(*x) && was.reach != t.yes {
		return
	}
	switch t.after {
	case unchanged:
		r.After, r.AfterUnknown = r.Before, r.BeforeUnknown
	case asDesired:
		r.After = t.answer(slices.Contains(granted, x.Name) && (!reverse || peer.Serves(*x))).reach
	}
	switch {
	case t.after != unchanged && r.Before == t.yes && r.After != t.yes:
		r.Note = t.note(peer, x, reverse)
	case t.after == asDesired && r.After == t.no && peer.Grants == nil:
		r.Note = "no authorization: " + grant(x, reverse)
	case t.after == asDesired && r.After == t.yes && r.Before == t.yes:
		r.Width, r.Note = t.width(x.Name)
	case t.after == asDesired && r.After == t.yes && len(x.Target.Ports) == 0:
		r.Note = everything
	}
	if r.Before != nil || r.After != nil || r.BeforeUnknown {
		t.rows = append(t.rows, r)
	}
}

// width is how what an exposure leads to changes.
func (t *table) width(exposure string) (Width, string) {
	was, known := t.led[exposure]
	is, there := t.leads[exposure]
	if !known || !there {
		return "", ""
	}
	return width(was, is)
}

// hold marks the rows that change: this run does not come to that.
func (t *table) hold() {
	for i, r := range t.rows {
		t.rows[i].Held = r.Before != r.After || r.BeforeUnknown != r.AfterUnknown || r.Width != ""
	}
}

// note says why access closes and how to get it back.
func (t *table) note(peer *vpn.Peer, x *vpn.Exposure, reverse bool) string {
	byDefault := t.before[peer.Name].Default || !t.read && t.party.ledger != nil && !t.party.ledger.Grants
	switch {
	case t.after == ended:
		return t.farewell(peer.Name)
	case reverse && !peer.Serves(*x):
		return x.Target.Address.String() + " is not behind " + peer.Name + " any more"
	case byDefault && peer.Grants == nil:
		return ordinal(len(t.party.gateway.Peers)) + " peer without a grant: " + grant(x, reverse)
	}
	return "no grant names it any more: " + grant(x, reverse)
}

// grant says what a peer's manifest needs for one exposure.
func grant(x *vpn.Exposure, reverse bool) string {
	field := "exposures"
	if reverse {
		field = "reverseExposures"
	}
	return "add authorization." + field + ": [" + x.Name + "]"
}

// ordinal counts the peer that ends default access.
func ordinal(peers int) string {
	if peers == 2 {
		return "second"
	}
	return "one more"
}

// farewell says why a row ends that no manifest names.
func (t *table) farewell(peer string) string {
	switch {
	case t.party.gateway == nil:
		return "the gateway goes"
	case t.party.renamed[peer] != "":
		return "goes on as " + t.party.renamed[peer]
	case !t.names(peer):
		return "the peer goes"
	}
	return "the exposure goes"
}

func side(a vpn.Access, reverse bool) []string {
	if reverse {
		return a.ReverseExposures
	}
	return a.Exposures
}

// rulesSuffix ends the name of the ConfigMap that holds a gateway's ruleset.
const rulesSuffix = "-nat"

// closing says on the change that closes access who loses what of it.
func (d *draft) closing(p *party, rows []Access) {
	id := resource.ID{Kind: kindConfigMap, Namespace: p.owner.Namespace, Name: p.owner.Name + rulesSuffix}
	c := d.changes[id]
	if c == nil || c.Action == Delete || p.gateway == nil {
		return
	}
	lost := map[string][]string{}
	for _, a := range rows {
		if _, stays := p.gateway.Peer(a.Peer); stays && a.Before != nil && *a.Before && (a.After == nil || !*a.After) {
			lost[a.Peer] = append(lost[a.Peer], a.Exposure)
		}
	}
	for _, peer := range slices.Sorted(maps.Keys(lost)) {
		c.Consequence = join(c.Consequence, peer+" loses "+strings.Join(lost[peer], ", "))
	}
}
