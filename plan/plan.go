package plan

import (
	"time"

	"github.com/vpnctl/vpnctl/plan/alloc"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// Version is the version of the plan's JSON schema.
const Version = "vpnctl.bnerd.net/plan/v1"

// Plan is what would be done, in a fixed order.
type Plan struct {
	Version string   `json:"version"`
	Estate  string   `json:"estate"`
	Owners  []Owner  `json:"owners"`  // every gateway that was read or found, sorted
	Changes []Change `json:"changes"` // in an order that satisfies every Needs

	Kept     []Kept    `json:"kept,omitempty"`     // what belongs to others and stays
	Notices  []Notice  `json:"notices,omitempty"`  // worth knowing, no change
	Refusals []Refusal `json:"refusals,omitempty"` // what must not be done: plan and apply fail
	Access   []Access  `json:"access,omitempty"`   // every peer × exposure whose reachability is known
	Sources  []Source  `json:"sources,omitempty"`  // ranges on our side that gain or lose reverse exposures

	Denied  *Denial     `json:"denied,omitempty"` // what a limit on the impact forbids; of a plan that is shown, never of one that is saved
	Options Options     `json:"options"`
	Survey  *Survey     `json:"survey,omitempty"` // what of it the plan depends on; nil: nothing
	Cloud   string      `json:"cloud,omitempty"`  // saved plans: which cloud they were made against
	Input   *vpn.Estate `json:"input,omitempty"`  // saved plans: the normalised estate they were made from
}

// Options are what the user chose and the plan depends on.
type Options struct {
	Gateways   []string      `json:"gateways,omitempty"`   // namespace/name; with Links the only ones that the run is about
	Links      []string      `json:"links,omitempty"`      // names; both empty: it is about all
	Only       string        `json:"only,omitempty"`       // OnlyCloud or OnlyKubernetes; empty: both
	Prune      bool          `json:"prune,omitempty"`      // delete what has no manifest any more
	MaxDeletes int           `json:"maxDeletes,omitempty"` // gateways and peers that one run may delete; 0: DefaultMaxDeletes, negative: none
	AllowEmpty bool          `json:"allowEmpty,omitempty"` // no manifest at all is meant
	PodsGone   bool          `json:"podsGone,omitempty"`   // target directory: the pods are known to be gone
	Hold       time.Duration `json:"hold,omitempty"`       // target directory: how long the cloud side outlives the files; 0: DefaultHold, negative: not at all

	Operated        []alloc.Operated `json:"operated,omitempty"`        // gateways that an operator made, as files tell of them
	OperatorStopped bool             `json:"operatorStopped,omitempty"` // no operator looks after any gateway of the estate any more
}

// The sides that Options.Only selects.
const (
	OnlyCloud      = "cloud"
	OnlyKubernetes = "kubernetes"
)

// What an option means that was left at zero.
const (
	DefaultMaxDeletes = 10
	DefaultHold       = 10 * time.Minute
)

// Owner is one gateway's line in the plan.
type Owner struct {
	Owner    vpn.Owner    `json:"owner"`
	Protocol vpn.Protocol `json:"protocol,omitempty"`
	Peers    []string     `json:"peers,omitempty"`    // before or after, sorted
	New      bool         `json:"new,omitempty"`      // nothing of it exists yet
	Gone     bool         `json:"gone,omitempty"`     // its manifest is gone
	Excluded bool         `json:"excluded,omitempty"` // not selected, see Options.Selects
	Blocked  string       `json:"blocked,omitempty"`  // why the whole gateway is left as it is, in words
	Waiting  int          `json:"waiting,omitempty"`  // how many changes wait until it is no longer blocked

	// Namespace is that of a new gateway, and Secrets are those there that its pod needs,
	// or new peers of it; sorted. With a cluster, those that are not there, or can't be
	// seen; else nothing looks whether they are.
	Namespace string          `json:"namespace,omitempty"`
	Secrets   []vpn.SecretRef `json:"secrets,omitempty"`
}

// Action is what is done to a resource.
type Action string

// The actions.
const (
	Create  Action = "create"
	Update  Action = "update"
	Replace Action = "replace"
	Adopt   Action = "adopt"
	Release Action = "release" // a customer's floating IP is disassociated and stays
	Delete  Action = "delete"
)

// Sign is the mark that a text plan shows.
func (a Action) Sign() string {
	return map[Action]string{Create: "+", Update: "~", Replace: "±", Adopt: ">", Release: "<", Delete: "-"}[a]
}

// Change is one step.
type Change struct {
	ID     resource.ID        `json:"id"`
	Owner  vpn.Owner          `json:"owner,omitzero"` // zero: the estate itself
	Action Action             `json:"action"`
	Before *resource.Resource `json:"before,omitempty"`
	After  *resource.Resource `json:"after,omitempty"`

	Attributes  []Attribute   `json:"attributes,omitempty"` // what differs, for people
	Reason      string        `json:"reason"`               // in words
	Drift       bool          `json:"drift,omitempty"`      // live moved; false: the manifests moved
	Proof       string        `json:"proof,omitempty"`      // of ownership, on every delete, release and replace
	Credential  string        `json:"credential,omitempty"` // in words: whose it is made with, where there are several
	Needs       []resource.ID `json:"needs,omitempty"`      // changes of this plan that come first, sorted
	Impact      Impact        `json:"impact"`
	Interrupts  []string      `json:"interrupts,omitempty"`  // peers whose tunnel this interrupts, sorted
	Customers   []string      `json:"customers,omitempty"`   // peers whose side must change its configuration, sorted
	Consequence string        `json:"consequence,omitempty"` // in words, beside the impact
	Held        string        `json:"held,omitempty"`        // why it is not done yet; a held change is not executed
	HeldUntil   time.Time     `json:"heldUntil,omitzero"`    // from when a run may do it; zero: no clock decides
	Barred      bool          `json:"barred,omitempty"`      // it is held because something of another hand stands in its place
}

// Attribute is one difference. Before and After are lines; a create has no
// Before, a delete no After.
type Attribute struct {
	Name   string `json:"name"`
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
	Diff   string `json:"diff,omitempty"` // for texts: unified, instead of Before and After
}

// Kept is something of another hand that a change leaves in place.
type Kept struct {
	ID    resource.ID `json:"id"`
	Owner vpn.Owner   `json:"owner,omitzero"`
	What  string      `json:"what"` // "allowed address pair 10.9.9.9/32"
	Why   string      `json:"why"`
}

// Notice is a sentence that is no change.
type Notice struct {
	Owner   vpn.Owner `json:"owner,omitzero"`
	Message string    `json:"message"`
	Hint    string    `json:"hint,omitempty"`
}

// Refusal is something that the manifests ask for and that must not be done.
type Refusal struct {
	Owner   vpn.Owner   `json:"owner,omitzero"`
	ID      resource.ID `json:"id,omitzero"`
	Message string      `json:"message"`
	Hint    string      `json:"hint,omitempty"`
	Reason  string      `json:"reason,omitempty"` // the condition reason that says the same, where it doesn't follow from ID
}

// Access is one cell of the reachability table.
type Access struct {
	Gateway  vpn.Owner `json:"gateway"`
	Peer     string    `json:"peer"`
	Exposure string    `json:"exposure"`
	Reverse  bool      `json:"reverse,omitempty"` // from our side to the peer's
	Before   *bool     `json:"before"`            // nil: not there, or not known
	After    *bool     `json:"after"`

	BeforeUnknown bool   `json:"beforeUnknown,omitempty"` // the gateway runs, and what it was rendered to can't be read
	AfterUnknown  bool   `json:"afterUnknown,omitempty"`  // the same, and this plan leaves it as it is
	Width         Width  `json:"width,omitempty"`         // reached before and after, but not the same; empty: the same
	Held          bool   `json:"held,omitempty"`          // the row changes with changes that are held: not in this run
	Note          string `json:"note,omitempty"`          // how to get back what closes, or how much of the target is reached
}

// Pending are the changes that would be executed: all but the held ones.
func (p Plan) Pending() []Change {
	var pending []Change
	for _, c := range p.Changes {
		if c.Held == "" {
			pending = append(pending, c)
		}
	}
	return pending
}
