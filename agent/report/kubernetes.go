package report

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	vpnv1alpha1 "github.com/vpnctl/vpnctl/crds/vpn/v1alpha1"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// Cluster is the Kubernetes API as source and sink. Report only hands over; Run
// writes.
type Cluster struct {
	api     *client
	pace    Pace
	secrets turns
	status  turns
	wake    chan struct{} // one report waits to be looked at

	mu       sync.Mutex
	targets  []*target // the gateway first, then its peers in the report's order
	last     map[string]vpnv1alpha1.PeerStatus
	failures int       // of the API as a whole, in a row
	resume   time.Time // no call before
	err      error     // why the API as a whole isn't asked now
}

// Kubernetes connects to the API with a pod's service account. Nothing is asked of
// it yet.
func Kubernetes(s Server, p Pace) (*Cluster, error) {
	api, err := connect(s, p.Call)
	if err != nil {
		return nil, err
	}
	return &Cluster{
		api: api, pace: p, wake: make(chan struct{}, 1),
		secrets: turns{spacing: p.Spacing}, status: turns{spacing: p.Spacing},
	}, nil
}

// Report takes over what status should say and returns at once; Run writes it. An
// earlier report that isn't written yet is dropped. The error is what stands in the
// way of writing at present, as known from earlier calls.
func (c *Cluster) Report(_ context.Context, r Report) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.take(r)
	select {
	case c.wake <- struct{}{}:
	default:
	}
	return c.trouble()
}

// take makes the targets those of the report, keeping what is known of each.
func (c *Cluster) take(r Report) {
	entries := make([]vpnv1alpha1.PeerStatus, len(r.Peers))
	for i, p := range r.Peers {
		entries[i] = entry(p)
	}
	steady(entries, c.last)
	c.last = make(map[string]vpnv1alpha1.PeerStatus, len(entries))
	known := make(map[object]*target, len(c.targets))
	for _, t := range c.targets {
		known[t.object] = t
	}
	c.targets = c.targets[:0:0]
	add := func(o object, want content) {
		t := known[o]
		if t == nil {
			t = &target{object: o}
		}
		t.want = want
		t.compare()
		c.targets = append(c.targets, t)
	}
	add(gatewayObject(r.Gateway), gatewayContent(r, entries))
	for _, e := range entries {
		c.last[e.Name] = e
		if r.Gateway.Kind == vpn.KindVPNGateway {
			add(peerObject(r.Gateway, e.Name), peerContent(e))
		}
	}
}

// named is how many objects an error names before it counts the rest.
const named = 3

// trouble is what the API refuses at present, in few lines.
func (c *Cluster) trouble() error {
	if c.err != nil {
		return c.err
	}
	var errs []error
	for _, t := range c.targets {
		if t.err != nil {
			errs = append(errs, t.err)
		}
	}
	if len(errs) > named {
		errs = append(errs[:named:named], fmt.Errorf("and %d more", len(errs)-named))
	}
	return errors.Join(errs...)
}

// Run writes what was reported, until ctx ends: states at once, figures in their own
// time, one call after another. What fails is tried again, ever less often, with the
// latest report.
func (c *Cluster) Run(ctx context.Context) {
	for ctx.Err() == nil {
		t, soonest := c.next(time.Now())
		if t == nil {
			c.sleep(ctx, soonest)
			continue
		}
		if c.status.wait(ctx) != nil {
			return
		}
		if t, _ = c.next(time.Now()); t != nil { // a report may have come meanwhile
			c.sync(ctx, t)
		}
	}
}

func (c *Cluster) next(now time.Time) (*target, time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now.Before(c.resume) {
		return nil, c.resume
	}
	return next(c.targets, c.pace, now)
}

// sleep until the given time, for ever where it is zero, or the next report.
func (c *Cluster) sleep(ctx context.Context, until time.Time) {
	var timer <-chan time.Time
	if !until.IsZero() {
		t := time.NewTimer(time.Until(until))
		defer t.Stop()
		timer = t.C
	}
	select {
	case <-ctx.Done():
	case <-c.wake:
	case <-timer:
	}
}

// sync makes one call for the target: it reads what isn't known, and writes what
// differs.
func (c *Cluster) sync(ctx context.Context, t *target) {
	c.mu.Lock()
	o, want, write := t.object, t.want, t.known && t.differs != resync
	c.mu.Unlock()
	shows, err := c.call(ctx, o, want, write)
	if ctx.Err() != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if err != nil {
		c.failed(t, write, err, now)
		return
	}
	c.failures, c.err = 0, nil
	t.succeeded(shows, now)
	if write {
		t.wrote = now
	}
}

// call reads the status of an object, or writes it, and returns what it shows then.
// After a write that is what was written: a definition that is older than this program
// drops fields, and they would be written for ever.
func (c *Cluster) call(ctx context.Context, o object, want content, write bool) (content, error) {
	method, patch := http.MethodGet, []byte(nil)
	if write {
		method, patch = http.MethodPatch, o.patch(want)
	}
	body, err := c.api.do(ctx, method, o.path(), patch)
	if err != nil {
		return content{}, err
	}
	shows, err := o.read(body)
	if write {
		shows = want
	}
	return shows, err
}

// failed puts off this target alone, where the API refuses it, or everything, where
// the API as a whole is at fault.
func (c *Cluster) failed(t *target, write bool, err error, now time.Time) {
	doing, verb := "reading", "get"
	if write {
		doing, verb = "writing", "patch"
	}
	gone, after := away(err)
	err = fmt.Errorf("%s the status of %s: %w", doing, t.object, c.api.explain(err, verb, t.object.plural()+"/status", t.object.Name))
	// Refusals of many objects together take half of all calls at most.
	longest := max(c.pace.RetryMax, 2*time.Duration(len(c.targets))*c.pace.Spacing)
	t.failed(err, now.Add(c.pace.backoff(t.failures+1, longest)))
	if !gone {
		c.failures, c.err = 0, nil
		return
	}
	c.failures++
	c.err = err
	c.resume = now.Add(max(min(after, 2*c.pace.RetryMax), c.pace.backoff(c.failures, c.pace.RetryMax)))
}
