package cloud

import (
	"context"
	"errors"
	"net/netip"
	"time"

	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/alloc"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// Driver observes and changes one system.
type Driver interface {
	// Observe reads all that belongs to the estate with a fixed handful of list
	// calls. A list that failed or ended early is an error, never less.
	Observe(ctx context.Context, e vpn.Estate, s Scope) (*Observation, error)

	// Apply carries out one change and waits until it is in force. It reads the
	// object just before and returns an error that wraps ErrConflict when the
	// object is no longer as the plan saw it, or is somebody else's. Applying a
	// change a second time, after the process ended at any moment of the first,
	// has the same result as applying it once. It is called from several
	// goroutines, for one owner from one at a time.
	Apply(ctx context.Context, c plan.Change) (resource.GatewayFacts, error)

	// Handles tells whether a kind of resource is this driver's.
	Handles(k resource.Kind) bool
}

// Scope widens what Observe reads.
type Scope struct {
	// Leftovers adds the project's untagged look-alikes, so that a cut-off create
	// whose manifest has gone is found too (--prune, doctor).
	Leftovers bool

	// Operated are gateways that an operator made, as files tell of them. What they say
	// of a gateway counts before what is said of it elsewhere.
	Operated []alloc.Operated
	// OperatorStopped: somebody says that no operator looks after them any more.
	OperatorStopped bool
	// Leaving: manifests in a cluster are being deleted. What an operator made of them is
	// looked for too: they must not go before it.
	Leaving bool
	// Operators waits for what the Kubernetes side tells of such gateways, beside those
	// above. Observe sets it, and only the cloud's driver may ask, which no other waits
	// for.
	Operators func(ctx context.Context) (Operators, error)
}

// Operators is what is known of gateways that an operator may have made.
type Operators struct {
	Gateways []alloc.Operated
	Told     map[vpn.Owner]bool // of these, files tell that an operator made them
	Stopped  bool               // no operator looks after them any more
}

// Observation is what a driver saw. Observations of several drivers are merged.
type Observation struct {
	Graph   resource.Graph     // what is ours
	Ledgers []alloc.Ledger     // of this estate, sorted by owner
	Links   []alloc.LinkLedger // of this estate, sorted by owner
	// Occupants are the ports on the transit network, sorted by address. They are looked
	// at while a link with a manifest has no leg.
	Occupants []alloc.Occupant
	// Sides are the customers' sides of the links into other projects that have a manifest
	// or a ledger.
	Sides   map[vpn.Owner]Side
	Claims  []alloc.Claim // ranges taken by others: other estates' ledgers, routes
	Unknown []string      // why it is not known which other ranges are taken, each with the owner's name
	Pins    []Pin         // every floating IP that a manifest or a ledger names, sorted by address
	Facts   resource.Facts
	// Rollouts says of each gateway whose Deployment was seen whether its pod runs, by
	// owner (text).
	Rollouts map[string]Rollout
	// Secrets are the versions of the Secrets in the gateways' namespaces, by
	// namespace/name: a value never comes along. Nil: it is not known which there are.
	Secrets map[string]string
	// Namespaces are those that a cluster has. Nil: nobody looked, because every gateway
	// has a manifest there, or nobody could.
	Namespaces map[string]bool
	// Loose are manifests in a cluster that carry no estate's mark and that nobody asks
	// for, with the gateway that they are about as their owner.
	Loose []resource.Resource
	// Ownerless are objects in a cluster that carry the estate's mark and don't say whose
	// they are.
	Ownerless []resource.Resource
	// Operated are gateways whose manifests a cluster holds, with what their statuses say,
	// and those whose manifests are being deleted: an operator may have made them.
	Operated []alloc.Operated
	// OperatorStopped: no operator looks after these gateways any more.
	OperatorStopped bool
	// Now is the time by the system's own clock, which all runs share, in whole
	// seconds; zero: it does not tell.
	Now time.Time
	// Problems are findings that make a gateway's change impossible, such as two
	// objects of one owner or tags that another hand removed. Keyed by owner.
	Problems []plan.Refusal
	Notices  []plan.Notice
}

// Kin is the proof that a manifest without our mark is this estate's.
const Kin = "its gateway's ledger is this estate's"

// OperatorMade is the rule by which an object in a cluster is taken over that an operator
// has made for the same manifest.
const OperatorMade = "made by an operator for the same manifest, which owns it"

// Rollout is whether a gateway's pod runs.
type Rollout struct {
	Available bool
	Message   string // why not
}

// Pin is a customer's floating IP as it was found.
type Pin struct {
	Address netip.Addr
	Ref     string // its ID
	Owner   string // the owner (text) whose port it leads to, when that is a gateway of this estate
	Holder  string // in words, who else holds it: `port "lb-frontend"`; empty: free or Owner's
	Tagged  bool   // it carries our tags: it is an address that vpnctl allocated
	Estate  string // the estate that its tags name, empty: none
	// Marked is whom its tags name: an owner of this estate (text), or in words
	// somebody else, such as "VPNGateway/acme/dc1 of estate other". Empty: nobody.
	Marked string
}

// ErrConflict: the object is no longer as it was planned, or belongs to
// somebody else. Nothing was changed.
var ErrConflict = errors.New("conflict")

// ErrUnresolved: a name or ID that the manifests give fits nothing in the cloud,
// or several things; trying again does not help.
var ErrUnresolved = errors.New("not found by its name")

// ErrRejected: the cloud does not accept the call, and would not accept it a
// second time.
var ErrRejected = errors.New("rejected")

// ErrForbidden: the account may not do that; who asks may go on without what is not
// essential.
var ErrForbidden = errors.New("forbidden")

// ErrNoKey: what stands in the place of a private key is none, and never comes along.
var ErrNoKey = errors.New("is no private key of WireGuard")

// ErrQuota: the project's quota is exhausted; trying again does not help.
var ErrQuota = errors.New("quota exceeded")
