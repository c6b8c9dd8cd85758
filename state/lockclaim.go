package state

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// poll is how often a waiting run looks again.
const poll = 2 * time.Second

// lastCalls is how long after its end a run's calls may still be carried out.
const lastCalls = 5 * time.Second

// claim waits for the address until it is ours.
//
//	on the address                → what is done
//	nothing                       → create; 409: someone was faster, look again
//	a lock of ours                → a create whose answer was lost: it is ours
//	a lock, its term running      → wait
//	a lock, its term over         → delete that ID and create; 409: someone was faster
//	a lock that ends too late     → wait as long as a lock may live, unless it is renewed
//	a lock of a run that ended    → wait for its last calls
//	anything else                 → refuse, naming it
func (l *Lock) claim(ctx context.Context) error {
	start, raced := l.options.Clock.Now(), false
	for {
		blocked, err := l.try(ctx)
		switch {
		case errors.Is(err, ErrHeld) && !raced:
			raced = true // the next look shows who it was: perhaps we
			continue
		case errors.Is(err, ErrHeld):
			blocked = fmt.Sprintf("%s is taken by another run, or by a port that can't be seen", l.options.Address)
		case err != nil || blocked == "":
			return err
		}
		raced = false
		left := l.options.Timeout - l.options.Clock.Now().Sub(start)
		switch {
		case l.options.Timeout <= 0:
			return fmt.Errorf("%w: %s", ErrLocked, blocked)
		case left <= 0:
			return fmt.Errorf("%w: %s; waited %s", ErrLocked, blocked, (l.options.Timeout - left).Round(100*time.Millisecond))
		}
		if err := l.options.Clock.Sleep(ctx, min(poll, left)); err != nil {
			return err
		}
	}
}

// try looks once and takes what can be taken. It says who is in the way, or
// nothing when the lock is ours.
func (l *Lock) try(ctx context.Context) (blocked string, err error) {
	port, found, seen, err := l.look(ctx)
	if err != nil {
		return "", err
	}
	if !found {
		return "", l.create(ctx, seen)
	}
	other, until, isLock := readLock(port)
	switch {
	case !isLock:
		return "", fmt.Errorf("%s is held by port %q (%s), which is no lock of vpnctl: choose another lockAddress", l.options.Address, port.Name, port.ID)
	case other == l.stamp:
		l.own(port, seen, until)
		return "", nil
	}
	until = l.end(port, other, until)
	if port.Now.After(until) {
		if err := l.claimant.DeleteLock(ctx, port.ID); err != nil {
			return "", fmt.Errorf("removing the expired lock of %s: %w", other.holder, err)
		}
		return "", l.create(ctx, seen)
	}
	l.tell(other.holder, until)
	return fmt.Sprintf("%s is held by %s (port %s on %s) until %s unless renewed",
		port.Name, other.holder, port.ID, l.options.Address, until.Format(time.RFC3339)), nil
}

// rival is another run's lock as it was met first.
type rival struct {
	id, description string
	seen            time.Time // by the server's clock
}

// end is until when another's lock counts. Nobody writes one that lives longer
// than the time to live, so a later end was not written by a run: it counts no
// longer than one that was written when it was met. A lock that lives is renewed,
// and met anew.
func (l *Lock) end(port Held, other stamp, until time.Time) time.Time {
	if l.met.id != port.ID || l.met.description != port.Description {
		l.met = rival{port.ID, port.Description, port.Now}
	}
	latest := l.met.seen.Add(l.options.TTL * 9 / 8) // servers' clocks may differ
	if l.options.Ended != "" && other.holder == newStamp(l.options.Ended).holder {
		latest = l.met.seen.Add(lastCalls)
	}
	if until.After(latest) {
		return latest
	}
	return until
}

func (l *Lock) look(ctx context.Context) (Held, bool, sighting, error) {
	sent := l.options.Clock.Now()
	port, found, err := l.claimant.FindLock(ctx, l.options.Address)
	if err == nil && port.Now.IsZero() {
		err = errors.New("the cloud's answer carries no Date")
	}
	return port, found, l.sighted(sent, port, sighting{}), err
}

// sighted is what an answer to a request sent then says about the server's
// clock. Where it carries no Date, what was known before still holds.
func (l *Lock) sighted(sent time.Time, port Held, known sighting) sighting {
	if port.Now.IsZero() {
		return known
	}
	return sighting{sent: sent, got: l.options.Clock.Now(), server: port.Now}
}

func (l *Lock) tell(holder string, until time.Time) {
	if l.options.Waiting != nil && l.options.Timeout > 0 {
		l.options.Waiting(holder, until)
		l.options.Waiting = nil
	}
}

// create makes the claim. When its answer is lost it may have been made all the
// same: then it is found by its stamp, and given back where the run has ended.
func (l *Lock) create(ctx context.Context, seen sighting) error {
	sent := l.options.Clock.Now()
	until := seen.now(sent).Add(l.options.TTL).Truncate(time.Second)
	port, err := l.claimant.CreateLock(ctx, lockName(l.options.Estate), l.stamp.describe(until), l.options.Address)
	if errors.Is(err, ErrHeld) || errors.Is(err, ErrRefused) {
		return err
	}
	if err != nil {
		return l.recover(ctx, err)
	}
	l.own(port, l.sighted(sent, port, seen), until)
	return nil
}

func (l *Lock) recover(ctx context.Context, lost error) error {
	after := context.WithoutCancel(ctx)
	port, found, seen, err := l.look(after)
	if err != nil || !found {
		return lost
	}
	other, until, ok := readLock(port)
	if !ok || other != l.stamp {
		return lost
	}
	if ctx.Err() != nil {
		return errors.Join(lost, l.claimant.DeleteLock(after, port.ID))
	}
	l.own(port, seen, until)
	return nil
}

const lockPrefix = "vpnctl-lock-"

// lockName is the port's name. It says which estate; what is contended is the
// address, so estates that share one take turns.
func lockName(estate string) string { return lockPrefix + estate }

// readLock reads a port that may be a lock.
func readLock(port Held) (stamp, time.Time, bool) {
	s, until, ok := readStamp(port.Description)
	return s, until, ok && strings.HasPrefix(port.Name, lockPrefix)
}
