package kube

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"

	"github.com/vpnctl/vpnctl/state"
)

var leases = gvr("coordination.k8s.io", "v1", "leases")

// Lease is what several processes elect a leader of an estate by: a Lease object, used
// as client-go's leader election uses it. That package would add 13 MB to the binary.
type Lease struct {
	Namespace, Name string
	Estate          string
	Identity        string // of this process, unlike any other's

	// Duration is how long the others wait without a sign of the leader. Default: 15 s.
	Duration time.Duration
	// Renew is how long a leader goes on without having renewed. Default: two thirds of
	// Duration.
	Renew time.Duration
	// Retry is how often it is renewed, and asked for. Default: 2 s, or a fifth of Duration
	// where that is less.
	Retry time.Duration

	// Waits is told, each time that the lease wasn't had, who holds it, or why it can't be
	// asked for or taken. Nil: nobody is.
	Waits func(holder string, err error)
}

// LongestLease is the longest Duration that a Lease may have: where a leader died,
// nobody leads for as long.
const LongestLease = 10 * time.Minute

// ErrLost: somebody else may lead by now.
var ErrLost = errors.New("the lease was lost")

// Lead waits until this process leads and then runs what only the leader may. Its
// context ends when the lease can't be renewed, or with ctx. Run is told who led before
// and never gave the lease back, maybe this process in an earlier turn; empty: nobody.
// The lease is given back once run has returned, so that another process takes over
// within a Retry. The error is that of run, or wraps ErrLost and says whether somebody
// else leads or the lease could not be renewed; nil where ctx ended.
func (d *Driver) Lead(ctx context.Context, l Lease, run func(ctx context.Context, before string) error) error {
	l.Duration = cmp.Or(l.Duration, 15*time.Second)
	l.Renew = cmp.Or(l.Renew, l.Duration*2/3)
	l.Retry = cmp.Or(l.Retry, min(2*time.Second, l.Duration/5))
	c := &candidate{Lease: l, api: d.api.Resource(leases).Namespace(l.Namespace), now: d.options.Now}
	for !c.take(ctx) {
		if l.Waits != nil && ctx.Err() == nil {
			l.Waits(c.holder, c.err)
		}
		if !pause(ctx, l.Retry) {
			return nil
		}
	}
	leading, stop := context.WithCancelCause(ctx)
	done := make(chan error, 1)
	before := c.before // what is renewed from here on is this process's own
	go func() { done <- run(leading, before) }()
	err := c.lead(ctx, stop, done)
	if errors.Is(context.Cause(leading), ErrLost) {
		err = context.Cause(leading)
	}
	if !errors.Is(err, ErrLost) {
		c.giveBack(context.WithoutCancel(ctx))
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// candidate is one process that stands for a lease.
type candidate struct {
	Lease
	api  dynamic.ResourceInterface
	now  func() time.Time // for others to read
	seen string           // resourceVersion of the lease as it was last seen
	at   time.Time        // when it was first seen like that, by the clock here

	before string // who was put down when it was taken last
	holder string // who was put down when it was asked for last
	err    error  // why it could not be had, where that isn't that somebody holds it
}

// take tries to get or to renew the lease. Whether another's has run out is told by how
// long it hasn't changed here: clocks of other machines don't matter.
func (c *candidate) take(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, c.Renew)
	defer cancel()
	c.holder, c.err = "", nil
	u, err := c.api.Get(ctx, c.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return c.had(c.write(ctx, &coordinationv1.Lease{}, true))
	}
	if err != nil {
		return c.had(err)
	}
	var have coordinationv1.Lease
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &have); err != nil {
		return c.had(err)
	}
	if have.ResourceVersion != c.seen {
		c.seen, c.at = have.ResourceVersion, time.Now()
	}
	holder, lasts := holderOf(&have)
	c.holder = holder
	if holder != "" && holder != c.Identity && time.Since(c.at) < cmp.Or(lasts, c.Duration) {
		return false
	}
	c.before = holder
	return c.had(c.write(ctx, &have, false))
}

// had tells whether a call went well, and takes down why not. That somebody else was
// faster is no fault.
func (c *candidate) had(err error) bool {
	if err != nil && !apierrors.IsConflict(err) && !apierrors.IsAlreadyExists(err) {
		c.err = fmt.Errorf("the Lease %s/%s can't be had: %w", c.Namespace, c.Name, err)
	}
	return err == nil
}

// write puts this process down as the holder, or nobody, on exactly the lease that was
// read.
func (c *candidate) write(ctx context.Context, l *coordinationv1.Lease, create bool) error {
	now, seconds := metav1.NewMicroTime(c.now()), int32((c.Duration+time.Second-1)/time.Second)
	if holder, _ := holderOf(l); holder != c.Identity {
		turns := int32(0)
		if l.Spec.LeaseTransitions != nil {
			turns = *l.Spec.LeaseTransitions + 1
		}
		l.Spec.LeaseTransitions, l.Spec.AcquireTime = &turns, &now
	}
	l.APIVersion, l.Kind = "coordination.k8s.io/v1", "Lease"
	l.Namespace, l.Name = c.Namespace, c.Name
	if l.Labels == nil {
		l.Labels = map[string]string{}
	}
	l.Labels[state.LabelManagedBy], l.Labels[state.LabelEstate] = "vpnctl", c.Estate
	l.Spec.HolderIdentity, l.Spec.LeaseDurationSeconds, l.Spec.RenewTime = &c.Identity, &seconds, &now
	return c.put(ctx, l, create)
}

func (c *candidate) put(ctx context.Context, l *coordinationv1.Lease, create bool) error {
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(l)
	if err != nil {
		return err
	}
	u := &unstructured.Unstructured{Object: object}
	if create {
		_, err = c.api.Create(ctx, u, metav1.CreateOptions{FieldManager: Manager})
	} else {
		_, err = c.api.Update(ctx, u, metav1.UpdateOptions{FieldManager: Manager})
	}
	return err
}

// lead renews until run is done. It waits for run in any case. However long a call
// takes, run is stopped once the lease wasn't renewed for Renew, counted from when the
// last good call was begun: nobody else can lead by then.
func (c *candidate) lead(ctx context.Context, stop context.CancelCauseFunc, done <-chan error) error {
	renewed := time.Now()
	tick := time.NewTicker(c.Retry)
	defer tick.Stop()
	unrenewed := fmt.Errorf("%w: it could not be renewed for %s, so another process may take it", ErrLost, c.Renew)
	late := time.AfterFunc(c.Renew, func() { stop(unrenewed) })
	defer late.Stop()
	for {
		select {
		case err := <-done:
			stop(nil)
			return err
		case <-ctx.Done():
			stop(context.Cause(ctx))
			return <-done
		case <-tick.C:
		}
		began := time.Now()
		asking, cancel := context.WithDeadline(ctx, renewed.Add(c.Renew))
		switch {
		case c.take(asking):
			renewed = began
			late.Reset(c.Renew - time.Since(began))
		case ctx.Err() != nil:
		case time.Since(renewed) >= c.Renew || c.others(asking):
			lost := fmt.Errorf("%w: another process holds it", ErrLost)
			if time.Since(renewed) >= c.Renew {
				lost = unrenewed
			}
			cancel()
			stop(lost)
			<-done
			return lost
		}
		cancel()
	}
}

// others tells whether somebody else is put down as the holder.
func (c *candidate) others(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, c.Retry)
	defer cancel()
	u, err := c.api.Get(ctx, c.Name, metav1.GetOptions{})
	if err != nil {
		return false
	}
	holder, _, _ := unstructured.NestedString(u.Object, "spec", "holderIdentity")
	return holder != "" && holder != c.Identity
}

// giveBack names nobody as the holder, if it is still this process.
func (c *candidate) giveBack(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, c.Renew)
	defer cancel()
	u, err := c.api.Get(ctx, c.Name, metav1.GetOptions{})
	var have coordinationv1.Lease
	if err != nil || runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &have) != nil {
		return
	}
	if holder, _ := holderOf(&have); holder != c.Identity {
		return
	}
	nobody, second := "", int32(1)
	have.APIVersion, have.Kind = "coordination.k8s.io/v1", "Lease"
	have.Spec.HolderIdentity, have.Spec.LeaseDurationSeconds = &nobody, &second
	_ = c.put(ctx, &have, false) // else it runs out
}

func holderOf(l *coordinationv1.Lease) (holder string, lasts time.Duration) {
	if l.Spec.HolderIdentity != nil {
		holder = *l.Spec.HolderIdentity
	}
	if l.Spec.LeaseDurationSeconds != nil {
		lasts = time.Duration(*l.Spec.LeaseDurationSeconds) * time.Second
	}
	return holder, lasts
}

// Leader is a process that leads an estate.
type Leader struct {
	Lease  string // namespace/name
	Estate string
	Name   string
	Since  time.Time // by that process's clock; zero: it doesn't say
}

// Leader tells which process leads an estate, anywhere in the cluster, nil where none is
// alive. One whose last sign looks old by the clock here, or comes from the future, is
// looked at for a while: either clock may be wrong. Only processes that lead by Lead are seen. The error wraps
// cloud.ErrForbidden where Leases may not be listed.
func (d *Driver) Leader(ctx context.Context, estate string) (*Leader, error) {
	first, err := d.leaseOf(ctx, state.LabelEstate+"="+estate)
	if err != nil || first == nil {
		return nil, err
	}
	_, lasts := holderOf(first)
	if age := d.options.Now().Sub(first.Spec.RenewTime.Time); lasts <= LongestLease && age.Abs() < lasts {
		return leaderOf(first), nil
	}
	if !pause(ctx, min(lasts/3, 5*time.Second)) {
		return nil, ctx.Err()
	}
	again, err := d.leaseOf(ctx, state.LabelEstate+"="+estate)
	if err != nil || again == nil || again.ResourceVersion == first.ResourceVersion {
		return nil, err
	}
	return leaderOf(again), nil
}

func leaderOf(l *coordinationv1.Lease) *Leader {
	who := &Leader{Lease: l.Namespace + "/" + l.Name, Estate: l.Labels[state.LabelEstate]}
	who.Name, _ = holderOf(l)
	if l.Spec.AcquireTime != nil {
		who.Since = l.Spec.AcquireTime.Time
	}
	return who
}

// leaseOf is the lease of the estates that a selector is about which somebody holds,
// renewed last where there are several; nil where there is none.
func (d *Driver) leaseOf(ctx context.Context, of string) (*coordinationv1.Lease, error) {
	items, err := d.list(ctx, leases, state.LabelManagedBy+"=vpnctl,"+of)
	if err != nil {
		return nil, err
	}
	var last *coordinationv1.Lease
	for i := range items {
		var l coordinationv1.Lease
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(items[i].Object, &l); err != nil {
			return nil, fmt.Errorf("lease %s/%s: %w", items[i].GetNamespace(), items[i].GetName(), err)
		}
		holder, _ := holderOf(&l)
		if holder != "" && l.Spec.RenewTime != nil && (last == nil || l.Spec.RenewTime.After(last.Spec.RenewTime.Time)) {
			last = &l
		}
	}
	return last, nil
}

// pause waits; it reports false where ctx ends first.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
