package loop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/cloud/reconcile"
	"github.com/vpnctl/vpnctl/cloud/reconcile/board"
	ipsecv1alpha1 "github.com/vpnctl/vpnctl/crds/ipsec/v1alpha1"
	vpnv1alpha1 "github.com/vpnctl/vpnctl/crds/vpn/v1alpha1"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/manifest"
	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/state"
)

// round is one pass of the loop.
type round struct {
	*Controller
	began time.Time

	owners  map[vpn.Owner]cloud.Manifest // gateways and links: whoever has a finalizer
	peers   map[string]cloud.Manifest    // VPNPeer namespace/name
	of      map[string]vpn.Owner         // the gateways that they name, by the same
	names   map[vpn.Owner][]string       // of the peers that name a gateway
	deleted map[vpn.Owner]bool
	spared  map[vpn.Owner]string   // whose finalizer could not be put on
	kept    map[vpn.Owner]string   // who is being deleted, and left whole: why
	bereft  map[vpn.Owner][]string // whose peers went with their CRD: which
	notices []plan.Notice          // for the page
	read    *manifest.Cluster
	others  []plan.Notice // of what belongs to other estates

	mislabelled []cloud.Manifest // peers of ours that another estate's label stands on

	mu       sync.Mutex // guards what follows, and derived
	failures int        // of calls to the cluster
	done     bool       // something was written
}

// Round looks once and does what is due. It returns when the next round is.
//
//	manifests      read them, and the Estate's file
//	deletions      find those that are not to be carried out, see astray and withhold
//	first words    a status, then the finalizer, on those without: before anything is made
//	not valid      say so: that needs no cloud
//	plan           one look at the cloud and the cluster, for all gateways and links: what
//	               comes to one concerns the other
//	lock, plan     only where something is to be written that isn't resting
//	finalizers     off where nothing is left: nobody else can be making it meanwhile
//	apply
//	statuses       where they differ
func (c *Controller) Round(ctx context.Context) (next time.Time) {
	c.prepare()
	next, _ = c.turn(ctx)
	return next
}

// turn is Round, and tells whether there was anything to do.
func (c *Controller) turn(ctx context.Context) (next time.Time, done bool) {
	r := &round{Controller: c, began: time.Now()}
	c.board.Alive()
	next = r.run(ctx)
	r.finish(next)
	return next, r.done || r.failures > 0
}

func (r *round) run(ctx context.Context) time.Time {
	if time.Now().Before(r.queue.cluster.due) {
		return r.queue.cluster.due
	}
	r.define(ctx)
	if err := r.manifests(ctx); err != nil {
		r.unlisted(ctx)
		return r.unread(err)
	}
	r.board.Reads(r.read.Estate, r.estate.problem)
	r.noteSecrets(r.read.Estate)
	r.astray(ctx)
	r.withhold(ctx)
	r.introduce(ctx)
	r.tellInvalid(ctx)
	r.tellBereft(ctx)
	r.bidFarewell(ctx)
	if time.Now().Before(r.queue.observe.due) {
		return r.later(r.queue.observe.due)
	}
	result, err := reconcile.Plan(ctx, r.input(plan.Options{}))
	if err != nil {
		return r.later(r.unobserved(ctx, err))
	}
	r.queue.observe.succeeded()
	done := r.carryOut(ctx, result)
	if done.Result == nil {
		return r.later(r.unobserved(ctx, done.err))
	}
	done.leaveLinks()
	r.tell(ctx, done)
	r.board.Round(board.Round{Began: r.began, Result: done.Result, Report: done.report, Err: done.err, There: r.there, Notices: r.notices})
	if done.again {
		return r.later(time.Now())
	}
	return r.later(r.queue.next(r.began, time.Now(), r.began.Add(r.Resync)))
}

// later is when the next round is: earlier than due where something could not be written
// down in the cluster. That one manifest can't be written keeps nobody else.
func (r *round) later(due time.Time) time.Time {
	r.queue.cluster.succeeded()
	if r.failures == 0 {
		r.queue.writing.succeeded()
		return due
	}
	if again := r.queue.writing.failed(time.Now(), firstPause, lastPause); again.Before(due) {
		return again
	}
	return due
}

// manifests reads what people have written.
func (r *round) manifests(ctx context.Context) error {
	all, err := r.Cluster.Manifests(ctx)
	if err != nil {
		return fmt.Errorf("reading the manifests: %w", err)
	}
	if all, err = r.own(ctx, all); err != nil {
		return err
	}
	r.owners, r.peers, r.deleted = map[vpn.Owner]cloud.Manifest{}, map[string]cloud.Manifest{}, map[vpn.Owner]bool{}
	r.spared = map[vpn.Owner]string{}
	var held []manifest.Standing
	for _, m := range all {
		o := ownerOf(m)
		switch {
		case m.Kind == vpnv1alpha1.KindVPNPeer && !m.Deleting:
			r.peers[m.Namespace+"/"+m.Name] = m
		case m.Kind == vpnv1alpha1.KindVPNPeer:
			continue
		default:
			r.owners[o] = m
			r.deleted[o] = m.Deleting
		}
		if !m.Deleting {
			held = append(held, manifest.Standing{Kind: m.Kind, Namespace: m.Namespace, Name: m.Name, JSON: m.JSON})
		}
	}
	r.assign()
	before := r.estate.problem
	r.read, err = r.estate.read(r.EstateFile, r.withoutPeersOf(held))
	if p := r.estate.problem; p != "" && p != before {
		r.Log.Error("the last good Estate counts", "error", p)
	}
	if err == nil {
		r.freeze()
	}
	return err
}

// withoutPeersOf leaves the peers of gateways that are being deleted out: they are
// nobody's any more, and no fault.
func (r *round) withoutPeersOf(held []manifest.Standing) []manifest.Standing {
	rest := held[:0:0]
	for _, s := range held {
		if s.Kind != vpnv1alpha1.KindVPNPeer || !r.deleted[r.of[s.Namespace+"/"+s.Name]] {
			rest = append(rest, s)
		}
	}
	return rest
}

// ownerOf is whom a manifest is about.
func ownerOf(m cloud.Manifest) vpn.Owner {
	o := vpn.Owner{Kind: m.Kind, Namespace: m.Namespace, Name: m.Name}
	if m.Kind == ipsecv1alpha1.KindClusterLink {
		o.Namespace = ""
	}
	return o
}

// unread waits for the cluster, or for somebody who mends the Estate's file.
func (r *round) unread(err error) time.Time {
	r.board.Failed(err)
	r.Log.Error("reading", "error", err)
	return r.queue.cluster.failed(time.Now(), firstPause, lastPause)
}

// input is what this round plans from, for those whom the selection names; none: for all.
func (r *round) input(selected plan.Options) reconcile.Input {
	e := r.read.Estate
	spared := map[vpn.Owner]string{}
	for o := range r.read.Invalid {
		if _, there := r.owners[o]; there { // else peers alone are left
			spared[o] = invalid(o)
		}
	}
	for o, why := range r.spared {
		spared[o] = why
	}
	maps.Copy(spared, r.kept)
	kept := e.Gateways[:0:0]
	for _, g := range e.Gateways {
		if r.spared[g.Owner] == "" {
			kept = append(kept, g)
		}
	}
	e.Gateways = kept
	e.Links = slices.DeleteFunc(slices.Clone(e.Links), func(l vpn.Link) bool { return r.spared[l.Owner] != "" })
	deleted := map[vpn.Owner]bool{}
	for o, is := range r.deleted {
		if is && r.kept[o] == "" {
			deleted[o] = true
		}
	}
	selected.Prune, selected.MaxDeletes, selected.AllowEmpty = true, math.MaxInt32, true // none but the deleted can go
	return reconcile.Input{
		Estate: e, Manifests: len(r.owners) + len(r.peers), Drivers: r.Drivers, Known: &r.known, Now: time.Now().UTC().Truncate(time.Second),
		Options: selected,
		Survey:  plan.Survey{Spared: spared}, Deleted: deleted, Conceded: r.conceded(deleted),
	}
}

// conceded are those of the deleted links whose manifests say that their customer's side may
// be left behind.
func (r *round) conceded(deleted map[vpn.Owner]bool) map[vpn.Owner]bool {
	all := map[vpn.Owner]bool{}
	for o := range deleted {
		var m struct {
			Metadata struct{ Annotations map[string]string } `json:"metadata"`
		}
		if o.Kind == ipsecv1alpha1.KindClusterLink && json.Unmarshal(r.owners[o].JSON, &m) == nil {
			all[o] = vpn.Link{Annotations: m.Metadata.Annotations}.Abandons()
		}
	}
	return all
}

// invalid is why an owner is left as it is whose manifest can't be gone by.
func invalid(o vpn.Owner) string {
	if o.Gateway() {
		return "its manifest, or one of a peer's, is not valid"
	}
	return "its manifest is not valid"
}

// turn is what a round knows in the end: what was planned last, and what came of it.
type turn struct {
	*reconcile.Result                          // nil: nobody could look
	report            *cloud.Report            // nil: nothing was applied
	left              map[vpn.Owner]bool       // whom it was not about
	again             bool                     // gateways were removed: the next round looks whether all of them went
	err               error                    // why nothing was, although something was due
	seen              map[string]cloud.Rollout // by owner (text), after a run that waited for pods; nil: as before the run
}

// carryOut makes what is due, under the estate's lock and as planned anew. What was seen
// first is let go of before that: it is as large. Without a result nobody could look then.
func (r *round) carryOut(ctx context.Context, seen *reconcile.Result) turn {
	if r.DryRun {
		r.logPlan(seen.Plan)
	}
	selected, due := r.due(seen)
	if !due && !r.releasable(seen) || r.DryRun || r.stopped(ctx) || against(seen.Plan) {
		return turn{Result: seen, left: r.waiting(seen.Plan)}
	}
	if !due {
		selected = plan.Options{} // who rests is left out by locked
	}
	lock, err := reconcile.Lock(ctx, r.read.Estate, r.Locker, state.LockOptions{Holder: r.Holder, Ended: r.Ended, Timeout: r.LockTimeout})
	if err != nil {
		return turn{Result: seen, left: r.waiting(seen.Plan), err: err}
	}
	if w := lock.Warning(); w != "" {
		r.Log.Warn(w)
	}
	defer func() {
		if err := lock.Release(ctx); err != nil {
			r.Log.Warn("unlocking", "error", err)
		}
	}()
	return r.locked(lock.Context(), selected, due)
}

// locked releases what may be, and makes what is due.
func (r *round) locked(ctx context.Context, selected plan.Options, due bool) turn {
	result, err := reconcile.Plan(ctx, r.input(selected))
	if err != nil {
		return turn{err: err}
	}
	done := turn{Result: result, left: excluded(result.Plan)}
	if against(result.Plan) {
		return done
	}
	r.release(ctx, done)
	if !due {
		done.left = r.waiting(result.Plan)
		return done
	}
	r.did()
	late, ended := r.late()
	done.report = result.Apply(ctx, cloud.Execution{Parallelism: r.Parallelism, Stop: late, Progress: r.progress})
	ended()
	if cause := context.Cause(ctx); errors.Is(cause, state.ErrLost) {
		done.err = cause
	}
	done.again = r.removed(done.report)
	for o := range cutShort(done.report) { // more is to be said of it than that its turn is next
		done.again, done.left[o] = true, true
	}
	return done
}

// late is closed with Stop, or when an apply has lasted so long that others should have
// their turn: of manifests that are not valid, of those that were edited meanwhile. What
// is in flight is finished, and the next round goes on with the rest. A turn is longer
// where looking is: three quarters of the time are for what is to be made.
func (r *round) late() (stop <-chan struct{}, ended func()) {
	late, over := make(chan struct{}), make(chan struct{})
	var wait sync.WaitGroup
	wait.Go(func() {
		timer := time.NewTimer(max(longestTurn, 3*time.Since(r.began)))
		defer timer.Stop()
		select {
		case <-over:
			return
		case <-r.Stop:
		case <-timer.C:
		}
		close(late)
	})
	return late, func() { close(over); wait.Wait() }
}

// against tells whether something stands against the plan as a whole.
func against(p plan.Plan) bool {
	return slices.ContainsFunc(p.Refusals, func(r plan.Refusal) bool { return r.Owner.IsZero() })
}

func (r *round) progress(e cloud.Event) {
	r.board.Alive()
	words := []any{"change", e.Change.ID.String(), "action", string(e.Change.Action), "reason", e.Change.Reason}
	switch {
	case e.State == cloud.Skipped:
		r.Log.Debug(string(e.State), append(words, "error", e.Err)...)
	case e.Err != nil:
		r.Log.Warn(string(e.State), append(words, "error", e.Err)...)
	default:
		r.Log.Info(string(e.State), words...)
	}
	if e.State != cloud.Started {
		r.board.Change(e)
	}
}
