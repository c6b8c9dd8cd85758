package loop

import (
	"context"
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/cloud/reconcile/standing"
	ipsecv1alpha1 "github.com/vpnctl/vpnctl/crds/ipsec/v1alpha1"
	vpnv1alpha1 "github.com/vpnctl/vpnctl/crds/vpn/v1alpha1"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// Reasons of Ready that only a controller gives.
const (
	ReasonUnobserved = "Unobserved"
	ReasonDeleting   = "Deleting"
)

// introduce says a first word of each new gateway and link, and then puts the finalizer on. The
// order matters: what judges by the status takes a manifest with a finalizer for one that
// somebody looks after. Whoever can't be kept from vanishing gets nothing made. Nothing is
// put on a manifest that is none: an API server might refuse to take it off again.
func (r *round) introduce(ctx context.Context) {
	var fresh []vpn.Owner
	for _, o := range slices.SortedFunc(maps.Keys(r.owners), vpn.Owner.Compare) {
		if m := r.owners[o]; !m.Held && !m.Deleting && !r.read.Unreadable[o] && !r.DryRun {
			fresh = append(fresh, o)
		}
	}
	why := make([]string, len(fresh))
	r.beside(len(fresh), func(i int) { why[i] = r.welcome(ctx, r.owners[fresh[i]]) })
	for i, o := range fresh {
		if why[i] != "" {
			r.spared[o] = why[i]
			continue
		}
		m := r.owners[o]
		m.Held = true
		r.owners[o] = m
	}
}

// welcome says why somebody could not be introduced, empty where it was.
func (r *round) welcome(ctx context.Context, m cloud.Manifest) string {
	first := cloud.Status{Conditions: []cloud.Condition{standing.Say(vpnv1alpha1.ConditionReady, standing.Unknown, standing.ReasonPending, "not looked at yet")}}
	if m.Status == nil && !r.say(ctx, m, first) {
		return "its status could not be written"
	}
	if err := r.Cluster.Hold(ctx, m); err != nil {
		r.trouble("putting the finalizer on", m, err)
		return "its finalizer could not be put on"
	}
	return ""
}

// tellInvalid says what is wrong with manifests: nothing has to be looked at for that.
func (r *round) tellInvalid(ctx context.Context) {
	for o, wrong := range r.read.Invalid {
		if m, there := r.owners[o]; there {
			s := standing.Invalid(o, wrong)
			r.sayStanding(ctx, m, s)
			r.board.Stands(s)
			r.queue.settle(o, none, time.Now()) // only an edit helps
		}
	}
	for key, m := range r.peers { // of no gateway, or of one that is not there
		o := r.of[key]
		if r.there(o) {
			continue
		}
		if s := standing.Invalid(o, r.read.Found["VPNPeer "+key]); s.Peers[m.Name].Type != "" {
			r.say(ctx, m, s.Peer(m.Name))
		}
	}
}

// bidFarewell says of those that are being deleted that they are, before anything of
// them is removed, and of those of whom nothing is why.
func (r *round) bidFarewell(ctx context.Context) {
	var going []standing.Gateway
	for o, is := range r.deleted {
		m := r.owners[o]
		s := standing.Gateway{Owner: o, Conditions: leaving(m)}
		switch why := r.kept[o]; {
		case why != "":
			s.Conditions = []cloud.Condition{standing.Say(vpnv1alpha1.ConditionReady, standing.Unknown, ReasonDeleting, why)}
		case !is, !m.Held, parted(m):
			continue
		}
		going = append(going, s)
	}
	r.beside(len(going), func(i int) {
		r.sayStanding(ctx, r.owners[going[i].Owner], going[i])
		r.board.Stands(going[i])
	})
}

// leaving are the conditions of an owner that is being deleted: of what was said to be
// there nothing is certain any more.
func leaving(m cloud.Manifest) []cloud.Condition {
	var all []cloud.Condition
	for _, s := range standing.Stages(m.Kind) {
		if _, said := condition(m, s); said {
			all = append(all, standing.Say(s, standing.Unknown, ReasonDeleting, ""))
		}
	}
	return append(all, standing.Say(vpnv1alpha1.ConditionReady, standing.Unknown, ReasonDeleting, ""))
}

// unobserved notes that nobody could look. Once is no reason to tell people.
func (r *round) unobserved(ctx context.Context, err error) time.Time {
	r.board.Unobserved(err)
	r.Log.Error("looking at the estate", "error", err, "failures", r.queue.observe.attempts+1)
	due := r.queue.observe.failed(time.Now(), cloudPause, lastObservePause)
	if r.queue.observe.attempts < 2 {
		return due
	}
	for _, g := range r.read.Estate.Gateways {
		if len(r.bereft[g.Owner]) == 0 { // else it is said what is to be done
			r.sayUnobserved(ctx, g.Owner, "tunnels don't depend on it")
		}
	}
	for _, l := range r.read.Estate.Links {
		r.sayUnobserved(ctx, l.Owner, "what is routed doesn't depend on it")
	}
	return due
}

func (r *round) sayUnobserved(ctx context.Context, o vpn.Owner, comfort string) {
	s := standing.Gateway{Owner: o, Conditions: []cloud.Condition{standing.Say(vpnv1alpha1.ConditionReady, standing.Unknown, ReasonUnobserved,
		"what stands can't be looked at: see the log and the status page of vpnctl reconcile; "+comfort)}}
	r.sayStanding(ctx, r.owners[o], s)
	r.board.Stands(s)
}

// tell says how everyone stands that this round was about, and notes when it is due
// again.
func (r *round) tell(ctx context.Context, done turn) {
	r.queue.keep(r.there)
	maps.DeleteFunc(r.derived, func(o vpn.Owner, _ publicKey) bool { return !r.there(o) })
	maps.DeleteFunc(r.asked, func(o vpn.Owner, _ []vpn.SecretRef) bool { return !r.there(o) })
	missing, faults := r.missing(ctx, done), r.faults(done)
	var due []standing.Gateway
	for _, s := range standing.Of(done.Result, done.report, done.rollouts(), missing) {
		if done.left[s.Owner] {
			continue
		}
		if len(missing[s.Owner]) == 0 {
			delete(r.asked, s.Owner)
		} else {
			r.asked[s.Owner] = missing[s.Owner]
		}
		for i := range s.Conditions {
			s.Conditions[i].Message = stable(s.Conditions[i].Message)
		}
		r.queue.settle(s.Owner, faults(s.Owner), time.Now())
		due = append(due, s)
	}
	keyless := make([]bool, len(due))
	r.beside(len(due), func(i int) {
		s := due[i]
		keyless[i] = r.publicKey(ctx, done, &s)
		r.sayStanding(ctx, r.owners[s.Owner], s)
		r.board.Stands(s)
	})
	for i, s := range due {
		if keyless[i] && faults(s.Owner) == none {
			r.queue.settle(s.Owner, declined, time.Now())
		}
	}
	for o, is := range r.deleted {
		if !is || done.left[o] {
			continue
		}
		if r.kept[o] != "" {
			r.queue.settle(o, none, time.Now())
			continue
		}
		r.queue.settle(o, max(faults(o), r.lingers(done, o)), time.Now())
		if m, there := r.owners[o]; there {
			c := parting(done.Result, o, stable(done.obstacle(o)))
			r.sayStanding(ctx, m, standing.Gateway{Owner: o, Conditions: []cloud.Condition{c}})
			r.board.Stands(standing.Gateway{Owner: o, Conditions: []cloud.Condition{c}})
		}
	}
	if done.err != nil {
		r.board.Failed(done.err)
		r.Log.Warn("nothing was changed", "error", done.err)
	}
}

// rollouts say whose pod runs. One whose Deployment this run has written is not known to.
func (done turn) rollouts() map[vpn.Owner]cloud.Rollout {
	all, seen := map[vpn.Owner]cloud.Rollout{}, done.Seen.Rollouts
	if done.seen != nil {
		seen = done.seen
	}
	for text, rollout := range seen {
		if o, known := vpn.ParseOwner(text); known {
			all[o] = rollout
		}
	}
	if done.report == nil || done.seen != nil {
		return all
	}
	for _, x := range done.report.With(cloud.Done) {
		if x.Change.ID.Kind == resource.KubernetesKind("Deployment") {
			all[x.Change.Owner] = cloud.Rollout{Message: "its Deployment was just written"}
		}
	}
	return all
}

// faults are what went wrong with each owner in this round, the worst of each. What only an
// edit of a manifest mends is none: that is noticed when it comes.
func (r *round) faults(done turn) func(vpn.Owner) fault {
	worst, general := map[vpn.Owner]fault{}, none
	note := func(o vpn.Owner, f fault) { worst[o] = max(worst[o], f) }
	for _, refusal := range done.Plan.Refusals {
		switch homelessness := refusal.Reason == vpnv1alpha1.ReasonNodeSelection || refusal.Reason == vpnv1alpha1.ReasonProviderID; {
		case refusal.Owner.IsZero():
			general = declined
		case homelessness:
			note(refusal.Owner, homeless)
		case refusal.Reason == vpnv1alpha1.ReasonInvalidSpec:
		case refusal.Reason == ipsecv1alpha1.ReasonRouterResolve, unreached(done.Seen.Sides[refusal.Owner].Fault):
			note(refusal.Owner, unresolved)
		default:
			note(refusal.Owner, declined)
		}
	}
	if done.err != nil {
		for o := range r.deleted {
			note(o, inCloud)
		}
		for _, c := range done.Plan.Pending() {
			note(c.Owner, inCloud)
		}
	}
	if done.report != nil {
		tried(done.report, worst, note)
	}
	return func(o vpn.Owner) fault { return max(general, worst[o]) }
}

// unreached tells whether a customer's side may be reached at another time, although
// nobody mends anything here.
func unreached(fault *cloud.CredentialError) bool {
	return fault != nil && (fault.Passing || fault.Reason == cloud.ReasonPending)
}

// lingers tells of an owner that is being deleted whether this round removed any of it.
func (r *round) lingers(done turn, o vpn.Owner) fault {
	if done.report == nil || !slices.ContainsFunc(done.report.Outcomes, func(x cloud.Outcome) bool { return x.Change.Owner == o }) {
		return none
	}
	return lingering
}

// tried notes what failed, and of gateways of whom nothing did what wasn't done all the
// same. What was only stopped is no fault.
func tried(report *cloud.Report, worst map[vpn.Owner]fault, note func(vpn.Owner, fault)) {
	for _, x := range report.Outcomes {
		switch {
		case x.State != cloud.Failed:
		case x.Change.ID.Kind.Cloud():
			note(x.Change.Owner, inCloud)
		default:
			note(x.Change.Owner, inCluster)
		}
	}
	for _, x := range report.Outcomes {
		if x.State == cloud.Skipped && worst[x.Change.Owner] == none && !follows(x.Change) && !errors.Is(x.Err, cloud.ErrStopped) {
			note(x.Change.Owner, inCloud)
		}
	}
}

// follows tells whether a change waits for another owner's or for all of its own: a way
// back to a gateway needs its link's leg, which is no fault of the gateway.
func follows(c plan.Change) bool {
	back := c.ID.Kind == resource.KindRoute && c.Owner.Gateway() && strings.Contains(c.ID.Name, "@")
	return back || c.ID.Kind == resource.KindApplied
}

// obstacle is what keeps an owner that is being deleted; empty: nothing that is known.
func (done turn) obstacle(o vpn.Owner) string {
	if done.report != nil {
		for _, x := range done.report.With(cloud.Failed) {
			if x.Change.Owner == o {
				return x.Change.ID.String() + ": " + x.Err.Error()
			}
		}
	}
	for _, refusal := range done.Plan.Refusals {
		if refusal.Owner == o || refusal.Owner.IsZero() {
			return strings.TrimSuffix(refusal.Message+": "+refusal.Hint, ": ")
		}
	}
	if done.report != nil { // what failed may be another's: a way back to a gateway
		for _, x := range done.report.With(cloud.Skipped) {
			if x.Change.Owner == o && !errors.Is(x.Err, cloud.ErrStopped) {
				return x.Change.ID.String() + ": " + x.Err.Error()
			}
		}
	}
	return ""
}

// volatile is what differs each time that the same thing goes wrong: request IDs, and
// the ports that calls come from.
var volatile = regexp.MustCompile(` ?\(req-[0-9a-fA-F-]+\)|req-[0-9a-fA-F-]+|[0-9a-fA-F.:\[\]]+:[0-9]+->`)

// stable is a message that is the same as long as the same thing is wrong: a status that
// changes wakes whoever watches it.
func stable(message string) string { return volatile.ReplaceAllString(message, "") }
