package openstack

import (
	"context"
	"errors"
	"time"
)

// How long a caller waits between the attempts of one call: once, and in all.
// Whatever a Retry-After asks for, somebody waits for this run.
const (
	longWait = 30 * time.Second
	allWaits = time.Minute
)

// wait sleeps before the next attempt of a call that has waited for spent so
// far. It tells whether there should be one: when the time is used up, or the run
// was asked to stop, the last outcome stands. The error is ctx's.
func (t *transport) wait(ctx context.Context, spent *time.Duration, d time.Duration) (again bool, err error) {
	d = min(d, longWait, allWaits-*spent)
	if d <= 0 {
		return false, nil
	}
	*spent += d
	if t.stopped(ctx) {
		return false, context.Cause(ctx)
	}
	err = t.rest(ctx, d)
	return err == nil && !t.stopped(ctx), err
}

// stopped tells whether the run was asked to stop, which tidying up goes on after.
func (t *transport) stopped(ctx context.Context) bool {
	if t.stop == nil || ctx.Value(cleaning{}) != nil {
		return false
	}
	select {
	case <-t.stop:
		return true
	default:
		return false
	}
}

// rest sleeps, but not on when the run is asked to stop. The error is ctx's.
func (t *transport) rest(ctx context.Context, d time.Duration) error {
	if t.stop == nil || ctx.Value(cleaning{}) != nil {
		return t.clock.Sleep(ctx, d)
	}
	waiting, wake := context.WithCancel(ctx)
	defer wake()
	go func() {
		select {
		case <-t.stop:
			wake()
		case <-waiting.Done():
		}
	}()
	if err := t.clock.Sleep(waiting, d); ctx.Err() != nil {
		return err
	}
	return nil
}

// errStopping ends waiting for Nova. What it was asked to do goes on there, and the
// next run finds how it ended.
var errStopping = errors.New("the run was asked to stop")

// nextLook waits until it is time to see how far Nova is. There is one more look
// after the run was asked to stop, and no second one.
func (d *Driver) nextLook(ctx context.Context) error {
	if d.http.stopped(ctx) {
		return errStopping
	}
	return d.http.rest(ctx, poll)
}

// cleaning marks the context of calls that tidy up: a stop is no reason to give
// them up.
type cleaning struct{}

func tidying(ctx context.Context) context.Context {
	return context.WithValue(ctx, cleaning{}, true)
}

// compensation is the time that undoing a half-made object gets, also when the
// run itself was cancelled.
const compensation = 30 * time.Second

func undoing(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(tidying(context.WithoutCancel(ctx)), compensation)
}
