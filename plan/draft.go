package plan

import (
	"cmp"
	"slices"
	"time"

	"github.com/vpnctl/vpnctl/plan/alloc"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

const kindDeployment = resource.Kind("kubernetes.deployment")

// draft is a plan in the making.
type draft struct {
	in      Input
	plan    Plan
	parties map[string]*party
	sorted  []*party // by owner; the estate itself is not among them
	estate  *party
	changes map[resource.ID]*Change
	unknown bool // Options.Gateways names one that isn't there

	matched int                     // desired resources that are there in some form
	clashes map[clash][]resource.ID // one owner's on one side and another's on the other

	onRouter map[string]*party        // see linkOn
	reverse  map[string][]resource.ID // see reverseRoutes

	waits   map[*Change][]resource.ID      // needs across owners
	holders map[string][]resource.Resource // who holds a range or address now
}

// party is one owner while its plan is made.
type party struct {
	owner   vpn.Owner
	text    string
	gateway *vpn.Gateway  // nil: no manifest, or a link
	link    *vpn.Link     // nil: no manifest, or a gateway
	ledger  *alloc.Ledger // nil: none was found

	rendered bool // something of it is on the desired side
	found    int  // resources on the observed side
	files    int  // Kubernetes objects on the observed side
	deployed bool // a Deployment is among them
	served   bool // its floating IP leads to its port: a pod rendered elsewhere may be behind it
	draining time.Time
	applied  string // hash that was reached
	wanted   string // hash that is desired

	differs []pair              // desired, and observed where it is there
	extra   []resource.Resource // observed, not desired

	fate    fate
	refused bool
	lost    []string          // peers on the ledger that have no manifest any more
	renamed map[string]string // those of them that go on under another name, as far as files tell
	changes []*Change
	leftOut int    // changes that Options.Only leaves out
	line    *Owner // its line in the plan
	order   int    // its place among all owners
}

// pair is a desired resource beside the observed one, which may be missing.
type pair struct {
	want resource.Resource
	have *resource.Resource
}

// fate is what the policy decided for an owner.
type fate int

const (
	build  fate = iota // make it as desired
	stay               // leave it whole as it is
	remove             // delete it
)

func newDraft(in Input) *draft {
	d := &draft{
		in:      in,
		parties: make(map[string]*party, len(in.Estate.Gateways)+1),
		estate:  &party{},
		changes: map[resource.ID]*Change{},
		clashes: map[clash][]resource.ID{},
	}
	d.plan = Plan{Version: Version, Estate: in.Estate.Name, Options: in.Options}
	d.plan.Notices = slices.Clone(in.Notices)
	d.parties[""] = d.estate
	d.owners()
	d.desired()
	d.observed()
	for text, p := range d.parties {
		if text != "" {
			d.sorted = append(d.sorted, p)
		}
	}
	slices.SortFunc(d.sorted, func(a, b *party) int {
		return cmp.Or(a.owner.Compare(b.owner), cmp.Compare(a.text, b.text))
	})
	d.lines()
	d.plan.Survey = d.relevant()
	d.part()
	for _, r := range in.Refusals {
		d.refuse(r)
	}
	return d
}

// lines writes a line for every gateway.
func (d *draft) lines() {
	d.plan.Owners = make([]Owner, 0, len(d.sorted))
	for i, p := range d.sorted {
		p.order = i
		p.line = &Owner{Owner: p.owner, New: p.fresh(), Gone: p.gone(), Secrets: p.secrets(d.in.Estate.Kubernetes.Target == vpn.TargetCluster)}
		if p.ledger != nil {
			p.line.Protocol, p.line.Peers = p.ledger.Protocol, union(p.ledger.Peers, nil)
		}
		if p.gateway != nil && p.line.New {
			p.line.Namespace = p.owner.Namespace
		}
		if p.gateway != nil {
			p.line.Protocol = p.gateway.Protocol
			for _, peer := range p.gateway.Peers {
				p.line.Peers = append(p.line.Peers, peer.Name)
			}
			p.line.Peers = union(p.line.Peers, nil)
		}
	}
	d.estate.order = len(d.sorted)
}

// owners enters everyone who has a manifest or a ledger.
func (d *draft) owners() {
	for i := range d.in.Estate.Gateways {
		g := &d.in.Estate.Gateways[i]
		d.party(g.Owner.String()).gateway = g
	}
	for i := range d.in.Estate.Links {
		l := &d.in.Estate.Links[i]
		d.party(l.Owner.String()).link = l
	}
	for i := range d.in.Ledgers {
		l := &d.in.Ledgers[i]
		p := d.party(l.Owner.String())
		p.ledger, p.applied, p.draining = l, l.Applied, l.Draining
	}
}

// desired notes what is wanted and not there as wanted. The usual resource is,
// and costs one look-up and one comparison.
func (d *draft) desired() {
	for id, want := range d.in.Desired {
		have, ok := d.in.Observed[id]
		if ok {
			d.matched++
		}
		standing := ok && have.Adopt == "" && !have.CutOff && !dying(&have) && have.Owner == want.Owner && same(&want, &have)
		if standing && want.SecurityGroup == nil && want.Applied == nil {
			continue
		}
		p := d.party(want.Owner)
		p.rendered = true
		if want.Applied != nil {
			p.wanted = want.Applied.Hash
		}
		switch {
		case standing:
		case !ok || have.CutOff:
			p.differs = append(p.differs, pair{want: want})
		case have.Owner != want.Owner:
			d.collide(p, d.party(have.Owner), id)
		default:
			other := have // only what differs goes to the heap
			p.differs = append(p.differs, pair{want: want, have: &other})
		}
	}
}

// observed notes what is there, and what of it nobody wants.
func (d *draft) observed() {
	all := d.matched == len(d.in.Observed) && len(d.clashes) == 0
	for id, have := range d.in.Observed {
		if lent(&have) {
			continue
		}
		p := d.party(have.Owner)
		p.found++
		d.keep(p, &have)
		switch {
		case !id.Kind.Cloud():
			p.files++
			p.deployed = p.deployed || id.Kind == kindDeployment
		case have.FloatingIP != nil:
			p.served = p.served || !have.FloatingIP.Port.IsZero()
		case have.Applied != nil:
			p.applied = have.Applied.Hash
		case have.SecurityGroup != nil && !have.SecurityGroup.Draining.IsZero():
			p.draining = have.SecurityGroup.Draining
		}
		if all {
			continue
		}
		if want, ok := d.in.Desired[id]; !ok || want.Owner != have.Owner {
			p.extra = append(p.extra, have)
		}
	}
}

// party finds or enters an owner by its text.
func (d *draft) party(text string) *party {
	p, ok := d.parties[text]
	if !ok {
		owner, _ := vpn.ParseOwner(text)
		p = &party{owner: owner, text: text}
		d.parties[text] = p
	}
	return p
}

// refuse notes a refusal; its owner gets no changes.
func (d *draft) refuse(r Refusal) {
	d.plan.Refusals = append(d.plan.Refusals, r)
	if r.Owner.IsZero() {
		return
	}
	if p, ok := d.parties[r.Owner.String()]; ok {
		p.refused = true
	}
}

func (d *draft) notice(p *party, message, hint string) {
	d.plan.Notices = append(d.plan.Notices, Notice{Owner: p.owner, Message: message, Hint: hint})
}

// drift tells whether the desired state was reached before, so that a
// difference can only be somebody else's.
func (p *party) drift() bool {
	return p.wanted != "" && p.wanted == p.applied && p.draining.IsZero()
}

// running tells whether tunnels can be up.
func (p *party) running() bool {
	return p.deployed || (p.applied != "" || p.served) && p.draining.IsZero()
}

// unseen tells whether a gateway was applied, and not as it is desired now, while
// nothing shows what it was rendered to.
func (p *party) unseen() bool {
	return !p.deployed && p.applied != "" && p.draining.IsZero() && !p.drift()
}

// gone tells whether it has no manifest.
func (p *party) gone() bool { return p.gateway == nil && p.link == nil }

// fresh tells whether nothing of it exists yet.
func (p *party) fresh() bool { return p.found == 0 && p.ledger == nil }

// peers are the names of the peers that have a tunnel now, sorted.
func (p *party) peers() []string {
	if p.gateway == nil {
		if p.ledger == nil {
			return nil
		}
		return slices.Clone(p.ledger.Peers)
	}
	var names []string
	for _, peer := range p.gateway.Peers {
		if p.ledger == nil || len(p.ledger.Peers) == 0 || slices.Contains(p.ledger.Peers, peer.Name) {
			names = append(names, peer.Name)
		}
	}
	slices.Sort(names)
	return names
}

// change enters a change of the party.
func (d *draft) change(p *party, c Change) *Change {
	c.Owner = p.owner
	held := &c
	p.changes = append(p.changes, held)
	d.changes[c.ID] = held
	return held
}

// drop takes a party's changes out again.
func (d *draft) drop(p *party) {
	for _, c := range p.changes {
		delete(d.changes, c.ID)
	}
	p.changes = nil
}
