package resource

import (
	"net/netip"
	"slices"
	"time"
)

// Unknown stands wherever a value exists only after a create.
const Unknown = "(known after apply)"

// Resource is one thing, desired or observed. Exactly one of the bodies is set,
// the one that ID.Kind names.
type Resource struct {
	ID    ID     `json:"id"`
	Owner string `json:"owner,omitempty"` // the owning manifest, vpn.Owner as text; empty: the estate itself
	Needs []ID   `json:"needs,omitempty"` // desired side: what must be in place first; sorted

	// Observed side only.
	Ref   string `json:"ref,omitempty"`   // the provider's own ID, or the file's path
	Proof string `json:"proof,omitempty"` // why it is ours: "tag owner=VPNGateway/acme/dc1"
	// CutOff marks a create of ours that stopped before it was tagged. Where a
	// manifest asks for it, it counts as absent: the create completes it.
	CutOff bool `json:"cutOff,omitempty"`
	// Adopt is the rule by which it may be taken over although it does not carry
	// our mark, in words; empty: it carries our mark.
	Adopt string `json:"adopt,omitempty"`

	SecurityGroup *SecurityGroup `json:"securityGroup,omitempty"`
	Port          *Port          `json:"port,omitempty"`
	FloatingIP    *FloatingIP    `json:"floatingIP,omitempty"`
	Route         *Route         `json:"route,omitempty"`
	TransitLeg    *TransitLeg    `json:"transitLeg,omitempty"`
	NetworkShare  *NetworkShare  `json:"networkShare,omitempty"`
	Applied       *Applied       `json:"applied,omitempty"`
	Object        *Object        `json:"object,omitempty"`
}

// Entry is one name and value of a ledger, without the tags' prefix.
type Entry struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// SecurityGroup is a gateway's group: its rules, and on its tags the ledger of
// what was allocated.
type SecurityGroup struct {
	Ledger []Entry `json:"ledger"` // sorted by name; see alloc.Ledger.Entries
	Rules  []Rule  `json:"rules"`  // ours, sorted, canonical
	// Draining is set on a group whose Kubernetes side was removed: the moment
	// from which the cloud side waits to be removed. Zero on a living gateway.
	Draining time.Time `json:"draining,omitzero"`

	MovingFrom []netip.Prefix `json:"movingFrom,omitempty"` // observed: service CIDRs that a move has not left behind yet, sorted

	Foreign []Rule `json:"foreign,omitempty"` // observed: rules that another hand added, kept
}

// Rule is one rule in canonical form: the same traffic has the same Rule.
type Rule struct {
	Direction string       `json:"direction"`          // ingress or egress
	Ether     string       `json:"ether"`              // IPv4 or IPv6
	Protocol  string       `json:"protocol,omitempty"` // lower-case name; empty: any
	From      int          `json:"from,omitempty"`     // first port; 0 with To 0: any
	To        int          `json:"to,omitempty"`
	Remote    netip.Prefix `json:"remote,omitzero"` // canonical; zero: anywhere
	Group     string       `json:"group,omitempty"` // observed: ID of a remote or address group, which ours never have
	Why       string       `json:"why,omitempty"`   // in words: "peer plant1"; not part of equality
}

// Port is the gateway pod's second interface.
type Port struct {
	Network string         `json:"network"`         // network ID
	Address string         `json:"address"`         // fixed IP, or Unknown
	Node    string         `json:"node"`            // node whose server holds it; empty: detached
	Server  string         `json:"server"`          // that server's ID; empty: detached
	Pairs   []netip.Prefix `json:"pairs,omitempty"` // allowed address pairs that are ours, sorted

	Foreign       []string `json:"foreign,omitempty"`       // observed: pairs that another hand added, kept
	ForeignGroups []string `json:"foreignGroups,omitempty"` // observed: IDs of security groups that another hand put it into, kept
	Groups        []string `json:"groups,omitempty"`        // observed: security group IDs; desired: empty, it is always the gateway's own
	Misfit        string   `json:"misfit,omitempty"`        // observed: what is wrong with the groups, in words; empty: they fit
	Unguarded     bool     `json:"unguarded,omitempty"`     // observed: port security is off: groups and pairs mean nothing, every packet passes
	Down          bool     `json:"down,omitempty"`          // observed: it was set down: no packet passes
}

// FloatingIP is the gateway's public address.
type FloatingIP struct {
	Pool    string `json:"pool,omitempty"`   // external network, name or ID as written; not compared: another pool changes nothing
	Address string `json:"address"`          // or Unknown
	Pinned  bool   `json:"pinned,omitempty"` // the customer's: associated and disassociated, never tagged or released
	Port    ID     `json:"port,omitzero"`    // the port resource it leads to; zero: free
	Holder  string `json:"holder,omitempty"` // observed, in words: who else holds it: `port "lb-frontend" (not ours)`
}

// Route is one static route on a router.
type Route struct {
	Router      string       `json:"router"`     // router ID
	RouterName  string       `json:"routerName"` // for people
	Destination netip.Prefix `json:"destination"`
	NextHop     string       `json:"nextHop"`           // address, or Unknown
	Stale       []string     `json:"stale,omitempty"`   // observed: further next hops of the same destination that are ours and held by no port of ours any more
	Foreign     []string     `json:"foreign,omitempty"` // observed: next hops of the same destination that are not ours
	Adrift      bool         `json:"adrift,omitempty"`  // observed: no port of its owner has the next hop
	By          string       `json:"by,omitempty"`      // for people: by whose credential it is written; empty: there is only one; not compared
	Others      bool         `json:"others,omitempty"`  // observed: another hand's, to what is in no ledger; it can't outlive the gateway whose port is the next hop
}

// TransitLeg joins a service cluster's router to the transit network: a port there that
// is an interface of the router.
type TransitLeg struct {
	Network    string `json:"network"`           // network ID
	Address    string `json:"address"`           // fixed IP, or Unknown
	Router     string `json:"router"`            // router ID; observed: empty while the port is no interface
	RouterName string `json:"routerName"`        // for people
	Project    string `json:"project,omitempty"` // the customer's project, whose credential makes it; empty: our own
	Adopted    bool   `json:"adopted,omitempty"` // somebody else had made it before it was taken over
	By         string `json:"by,omitempty"`      // for people: by whose credential it is made; empty: there is only one; not compared
	Left       string `json:"left,omitempty"`    // observed: why it stays when its link goes; empty: it goes
}

// NetworkShare lets a customer's project make ports on the transit network.
type NetworkShare struct {
	Network string `json:"network"`      // network ID
	Project string `json:"project"`      // the customer's
	By      string `json:"by,omitempty"` // for people: by whose credential it is made; not compared
	// Attested says for people who has attested that project, and when; not compared.
	Attested string `json:"attested,omitempty"`

	Foreign bool     `json:"foreign,omitempty"` // observed: another hand shared it; used, and never taken back
	Users   []string `json:"users,omitempty"`   // observed: IDs of that project's ports on the network, sorted; they keep it shared
	Left    string   `json:"left,omitempty"`    // observed: why it stays when its link goes; empty: it goes
}

// Applied is the record, on the ledger, of the desired state that was reached.
type Applied struct {
	Hash string `json:"hash"`
	// Abandoned: of a link into a customer's project the customer's side may be left
	// behind, if it can't be reached when the link goes.
	Abandoned bool `json:"abandoned,omitempty"`
}

// Object is a Kubernetes object, or a file of the tree that is none (a
// kustomization).
type Object struct {
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Namespace  string   `json:"namespace,omitempty"`
	Name       string   `json:"name"`
	Path       string   `json:"path"`              // slash-separated, below the output directory
	Content    string   `json:"content"`           // YAML as it is written; Unknown where a value is not there yet
	Unknown    []string `json:"unknown,omitempty"` // desired: which facts are missing from Content

	Live      *Live    `json:"-"`                   // observed in a cluster
	ChangedBy []string `json:"changedBy,omitempty"` // observed in a cluster: field managers whose values differ from the desired ones, sorted
}

// SortRules brings rules into their canonical order.
func SortRules(rules []Rule) {
	slices.SortFunc(rules, Rule.Compare)
}
