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

// claim waits for the address until it is ours.
//
//	on the address                → what is done
//	nothing                       → create; 409: someone was faster, wait
//	a lock of ours                → a create whose answer was lost: it is ours
//	a lock, its term running      → wait
//	a lock, its term over         → delete that ID, look again
//	anything else                 → refuse, naming it
func (l *Lock) claim(ctx context.Context) error {
	start, told := l.options.Clock.Now(), false
	for {
		sent := l.options.Clock.Now()
		port, found, err := l.claimant.FindLock(ctx, l.options.Address)
		if err != nil {
			return err
		}
		if port.Now.IsZero() {
			return fmt.Errorf("the cloud's answer carries no Date")
		}
		seen := sighting{sent: sent, got: l.options.Clock.Now(), server: port.Now}
		var blocked string
		if !found {
			err := l.create(ctx, seen)
			if !errors.Is(err, ErrHeld) {
				return err
			}
			blocked = fmt.Sprintf("%s was taken by another run at this moment, or by a port that can't be seen", l.options.Address)
		} else {
			other, until, ok := readLock(port)
			switch {
			case !ok:
				return fmt.Errorf("%s is held by port %q (%s), which is no lock of vpnctl: choose another lockAddress", l.options.Address, port.Name, port.ID)
			case other == l.stamp:
				l.own(port, seen, until)
				return nil
			case port.Now.After(until):
				if err := l.claimant.DeleteLock(ctx, port.ID); err != nil {
					return fmt.Errorf("removing the expired lock of %s: %w", other.holder, err)
				}
				continue
			}
			blocked = fmt.Sprintf("%s by %s (port %s on %s), until %s unless renewed", port.Name, other.holder, port.ID, l.options.Address, until.Format(time.RFC3339))
			if !told && l.options.Waiting != nil {
				l.options.Waiting(other.holder, until)
				told = true
			}
		}
		if waited := l.options.Clock.Now().Sub(start); waited+poll > l.options.Timeout {
			return fmt.Errorf("%w: %s; waited %s", ErrLocked, blocked, waited.Round(time.Second))
		}
		if err := l.options.Clock.Sleep(ctx, poll); err != nil {
			return err
		}
	}
}

// create makes the claim. When its answer is lost it may have been made all the
// same: then it is found by its stamp, and given back where the run has ended.
func (l *Lock) create(ctx context.Context, seen sighting) error {
	sent := l.options.Clock.Now()
	until := seen.now(sent).Add(l.options.TTL).Truncate(time.Second)
	name, description := lockName(l.options.Estate), l.stamp.describe(until)
	port, err := l.claimant.CreateLock(ctx, name, description, l.options.Address)
	if errors.Is(err, ErrHeld) || errors.Is(err, ErrRefused) {
		return err
	}
	if err != nil {
		return l.recover(ctx, err)
	}
	l.own(port, sighting{sent: sent, server: port.Now}, until)
	return nil
}

func (l *Lock) recover(ctx context.Context, lost error) error {
	after := context.WithoutCancel(ctx)
	sent := l.options.Clock.Now()
	port, found, err := l.claimant.FindLock(after, l.options.Address)
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
	l.own(port, sighting{sent: sent, server: port.Now}, until)
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
