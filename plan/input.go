package plan

import (
	"time"

	"github.com/vpnctl/vpnctl/plan/alloc"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// Input is all that a plan is made from.
type Input struct {
	Estate   vpn.Estate
	Desired  resource.Graph // every gateway with a manifest, rendered with what is known; also objects of the estate itself (Owner "")
	Observed resource.Graph
	Ledgers  []alloc.Ledger // observed, of this estate

	// What observing, allocating and rendering found. An owner that is refused
	// gets no changes at all.
	Refusals []Refusal
	Notices  []Notice

	// Judge says what a content change of a Kubernetes object does. Nil: nothing.
	Judge func(before, after resource.Resource) Verdict
	// Succession says what the peers of a gateway have to change although another one
	// takes its address and range over, from the objects of both: ImpactCustomer without
	// Customers means that it is not known. Nil: nothing.
	Succession func(before, after resource.Graph) Verdict
	// Renamed says which peers of a gateway only get another name, old → new, from all
	// its objects as they are and as they will be. Its Judge says what that does to them.
	// Nil: none do.
	Renamed func(before, after resource.Graph) map[string]string
	// Index renders the objects of the estate itself that list the gateways
	// standing in the tree after this plan, sorted. Nil: Desired holds them all.
	Index func(standing []vpn.Owner) []resource.Resource
	// Targets reads from a gateway's ConfigMaps where its exposures lead, by their names.
	// Nil, or nil of these: not known.
	Targets func(objects resource.Graph) map[string]vpn.Target
	// Crowded are the servers that carry as many gateways as they may until those
	// without a manifest are gone.
	Crowded map[string]bool
	// Before is the access now in force: owner text → peer → access. An owner or
	// peer that is missing is not known.
	Before map[string]map[string]vpn.Access

	Options   Options
	Now       time.Time // by a clock that all runs share, as far as there is one
	Manifests int       // how many manifests were read

	Survey
}

// Survey is what stands below the Estate's folder and was not read: it is not gone.
type Survey struct {
	Unread      map[vpn.Owner]string `json:"unread,omitempty"`      // gateway → file
	Spared      map[vpn.Owner]string `json:"spared,omitempty"`      // gateway → why it is left as it is although it has no manifest here, in words
	UnreadPeers map[string]string    `json:"unreadPeers,omitempty"` // namespace/gateway/peer → file
	Obscure     []string             `json:"obscure,omitempty"`     // files of which nobody can tell what stands in them
}

// Spares tells whether a gateway without a manifest is not gone all the same.
func (s Survey) Spares(o vpn.Owner) bool { return s.Unread[o] != "" || s.Spared[o] != "" }

// Verdict is what a content change does.
type Verdict struct {
	Impact      Impact
	Interrupts  []string // peers whose tunnel it interrupts
	Customers   []string // peers whose side must change
	Consequence string   // in words
}

// add takes another verdict in: the worst counts, the people add up.
func (v *Verdict) add(o Verdict) {
	v.Impact = max(v.Impact, o.Impact)
	v.Interrupts = union(v.Interrupts, o.Interrupts)
	v.Customers = union(v.Customers, o.Customers)
	v.Consequence = join(v.Consequence, o.Consequence)
}

// Make compares what should be with what is. It is a pure function: the order of
// lists and maps in its input does not show in its result.
func Make(in Input) Plan {
	d := newDraft(in)
	if d.empty() {
		d.arrange()
		return d.plan
	}
	d.decide()
	d.build()
	d.settle()
	d.limit()
	d.spread()
	d.index()
	d.finish()
	return d.plan
}
