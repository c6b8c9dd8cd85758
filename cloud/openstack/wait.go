package openstack

import (
	"context"
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
	if t.stop == nil || ctx.Value(cleaning{}) != nil {
		err = t.clock.Sleep(ctx, d)
		return err == nil, err
	}
	select {
	case <-t.stop:
		return false, context.Cause(ctx)
	default:
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
	if err = t.clock.Sleep(waiting, d); err != nil && ctx.Err() == nil {
		return false, nil
	}
	return err == nil, err
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
