package loop

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/cloud/reconcile"
	"github.com/vpnctl/vpnctl/cloud/reconcile/standing"
	vpnv1alpha1 "github.com/vpnctl/vpnctl/crds/vpn/v1alpha1"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// sayStanding writes how a gateway stands into its status and those of its peers, where
// they say something else.
func (r *round) sayStanding(ctx context.Context, m cloud.Manifest, s standing.Gateway) {
	r.say(ctx, m, s.Status())
	for _, name := range r.names[s.Owner] {
		if said := s.Peer(name); len(said.Conditions) > 0 {
			r.say(ctx, r.peers[s.Owner.Namespace+"/"+name], said)
		}
	}
}

// say writes a status, and an event for each summary that became another.
// It reports whether the status stands.
func (r *round) say(ctx context.Context, m cloud.Manifest, s cloud.Status) bool {
	if r.DryRun || ctx.Err() != nil || m.Name == "" {
		return false
	}
	changed, err := r.Herald.Record(ctx, m, s)
	if err != nil {
		r.trouble("writing the status of", m, err)
		return false
	}
	if changed {
		r.did()
		r.board.Written()
		if i := slices.IndexFunc(s.Conditions, wrong); i >= 0 {
			c := s.Conditions[i]
			r.Log.Warn("not well", "manifest", name(m), "condition", c.Type, "reason", c.Reason, "message", c.Message)
		}
		r.noteMove(ctx, m, s)
		r.note(ctx, m, s)
	}
	return true
}

// summary tells whether a condition is one that people watch.
func summary(c cloud.Condition) bool {
	return c.Type == vpnv1alpha1.ConditionReady || c.Type == vpnv1alpha1.ConditionAuthorized
}

func wrong(c cloud.Condition) bool { return summary(c) && c.Status == standing.False }

// note tells of summaries that became another, of one reason once. A peer that is only as
// its gateway is doesn't say so beside it, but for when it is known not to be ready.
func (r *round) note(ctx context.Context, m cloud.Manifest, s cloud.Status) {
	told := map[string]bool{}
	for _, c := range s.Conditions {
		before, _ := condition(m, c.Type)
		same := before.Status == c.Status && before.Reason == c.Reason
		follows := m.Kind == vpnv1alpha1.KindVPNPeer && c.Type == vpnv1alpha1.ConditionReady && c.Status != standing.False && before.Status != standing.False
		if !summary(c) || same || follows || told[c.Reason] {
			continue
		}
		told[c.Reason] = true
		h := cloud.Happening{Warning: c.Status == standing.False, Reason: c.Reason, Message: cmp.Or(c.Message, c.Type+" is "+c.Status)}
		if err := r.Herald.Event(ctx, m, h); err != nil {
			r.Log.Warn("noting an event", "manifest", name(m), "error", err) // it is told in the status as well
		}
	}
}

func (r *round) trouble(doing string, m cloud.Manifest, err error) {
	r.mu.Lock()
	r.failures++
	r.mu.Unlock()
	r.Log.Warn(doing+" "+name(m), "error", err)
}

// did notes that something was written.
func (r *round) did() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done = true
}

// beside does n things, as many side by side as gateways are.
func (r *round) beside(n int, do func(i int)) {
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(cmp.Or(r.Parallelism, 8), n) {
		workers.Go(func() {
			for i := next.Add(1) - 1; i < int64(n); i = next.Add(1) - 1 {
				do(int(i))
			}
		})
	}
	workers.Wait()
}

// there tells whether an owner has a manifest.
func (r *round) there(o vpn.Owner) bool {
	_, there := r.owners[o]
	return there
}

func name(m cloud.Manifest) string {
	return m.Kind + " " + strings.TrimPrefix(m.Namespace+"/"+m.Name, "/")
}

// releasable tells whether manifests that are being deleted may have nothing left.
func (r *round) releasable(seen *reconcile.Result) bool {
	there := seen.Remaining()
	for o, is := range r.deleted {
		if is && r.kept[o] == "" && r.owners[o].Held && !there[o] {
			return true
		}
	}
	return false
}

// release lets manifests go of which nothing is left. It is called with the lock held:
// a run that began before the manifest was deleted could still be making something.
func (r *round) release(ctx context.Context, done turn) {
	there := done.Remaining()
	var over []vpn.Owner
	for o, is := range r.deleted {
		if is && r.kept[o] == "" && r.owners[o].Held && !there[o] && !done.left[o] {
			over = append(over, o)
		}
	}
	failed := make([]error, len(over))
	r.beside(len(over), func(i int) { failed[i] = r.let(ctx, r.owners[over[i]]) })
	for i, o := range over {
		switch {
		case failed[i] == nil:
			delete(r.owners, o)
			delete(r.deleted, o)
			r.forget(o)
		case errors.Is(failed[i], cloud.ErrRejected):
			r.notice(plan.Notice{Message: "nothing of " + o.Path() + " is left, but its finalizer can't be taken off: " + failed[i].Error() + "; " + correctable})
		}
	}
}

// correctable is what helps where an API server refuses a manifest as a whole.
const correctable = "correct in its manifest what the API server names, with kubectl edit: it may be changed while it is being deleted"

// let takes the finalizer off a manifest; nil: it is off.
func (r *round) let(ctx context.Context, m cloud.Manifest) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	err := r.Cluster.Release(ctx, m)
	if errors.Is(err, cloud.ErrRejected) {
		r.trouble("taking the finalizer off", m, fmt.Errorf("%w; %s", err, correctable))
		return err
	}
	if err != nil {
		r.trouble("taking the finalizer off", m, err)
		return err
	}
	r.did()
	r.Log.Info("released", "manifest", name(m))
	return nil
}

// removed tells whether all that was tried of gateways that are being deleted went well.
func (r *round) removed(report *cloud.Report) bool {
	some := false
	for _, x := range report.Outcomes {
		if r.deleted[x.Change.Owner] {
			if x.State != cloud.Done {
				return false
			}
			some = true
		}
	}
	return some
}

// finish closes the round's account.
func (r *round) finish(next time.Time) {
	r.board.Took(time.Since(r.began))
	r.Log.Debug("round", "took", time.Since(r.began).Round(time.Millisecond), "next", time.Until(next).Round(time.Millisecond))
}
