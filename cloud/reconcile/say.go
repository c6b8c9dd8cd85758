package reconcile

import (
	"cmp"
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vpnctl/vpnctl/cloud"
	vpnv1alpha1 "github.com/vpnctl/vpnctl/crds/vpn/v1alpha1"
)

// sayStanding writes how a gateway stands into its status and those of its peers, where
// they say something else.
func (r *round) sayStanding(ctx context.Context, m cloud.Manifest, s Standing) {
	r.say(ctx, m, s.status())
	for name := range s.Peers {
		if peer, there := r.peers[s.Owner.Namespace+"/"+name]; there {
			r.say(ctx, peer, s.peer(name))
		}
	}
}

// say writes a status, and an event where Ready, or a peer's Authorized, became another.
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
		r.metrics.statuses.Inc()
		if ready := s.Conditions[len(s.Conditions)-1]; ready.Status == False {
			r.Log.Warn("not well", "manifest", name(m), "condition", ready.Type, "reason", ready.Reason, "message", ready.Message)
		}
		r.noteMove(ctx, m, s)
		r.note(ctx, m, s)
	}
	return true
}

func (r *round) note(ctx context.Context, m cloud.Manifest, s cloud.Status) {
	last := s.Conditions[len(s.Conditions)-1]
	if before, _ := condition(m, last.Type); before.Status == last.Status && before.Reason == last.Reason {
		return
	}
	h := cloud.Happening{Warning: last.Status == False, Reason: last.Reason, Message: cmp.Or(last.Message, last.Type+" is "+last.Status)}
	if err := r.Herald.Event(ctx, m, h); err != nil {
		r.Log.Warn("noting an event", "manifest", name(m), "error", err) // it is told in the status as well
	}
}

// status is what the gateway's manifest is to say.
func (s Standing) status() cloud.Status {
	fields := map[string]any{}
	for name, value := range map[string]string{
		"serviceCIDR": s.ServiceCIDR, "floatingIP": s.FloatingIP, "portFixedIP": s.PortFixedIP, "nodeName": s.NodeName,
		"wireguardPublicKey": s.PublicKey,
	} {
		if value != "" {
			fields[name] = value
		}
	}
	if s.NoKey {
		fields["wireguardPublicKey"] = nil
	}
	if s.VirtualIPs != nil {
		all := []vpnv1alpha1.VirtualIPStatus{}
		for _, v := range s.VirtualIPs {
			all = append(all, vpnv1alpha1.VirtualIPStatus{Name: v.Name, IP: v.IP, Reverse: v.Reverse})
		}
		fields["virtualIPs"] = all
	}
	return cloud.Status{Fields: fields, Conditions: s.Conditions}
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

func name(m cloud.Manifest) string { return m.Kind + " " + m.Namespace + "/" + m.Name }

// releasable tells whether manifests that are being deleted may have nothing left.
func (r *round) releasable(seen *Result) bool {
	there := seen.Remaining()
	for o, is := range r.deleted {
		if is && r.kept[o] == "" && r.gateways[o].Held && !there[o] {
			return true
		}
	}
	return false
}

// release lets manifests go of which nothing is left. It is called with the lock held:
// a run that began before the manifest was deleted could still be making something.
func (r *round) release(ctx context.Context, done turn) {
	there := done.Remaining()
	for o, is := range r.deleted {
		m := r.gateways[o]
		if !is || r.kept[o] != "" || !m.Held || there[o] || done.left[o] || ctx.Err() != nil {
			continue
		}
		if err := r.Cluster.Release(ctx, m); err != nil {
			r.trouble("taking the finalizer off", m, err)
			continue
		}
		r.did()
		r.Log.Info("released", "manifest", name(m))
		delete(r.gateways, o)
		delete(r.deleted, o)
	}
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
	r.metrics.round(time.Since(r.began))
	r.Log.Debug("round", "took", time.Since(r.began).Round(time.Millisecond), "next", time.Until(next).Round(time.Millisecond))
}
