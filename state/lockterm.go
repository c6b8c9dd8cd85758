package state

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"
)

// stamp is who holds a lock. The mark is drawn for each run, so that two runs of
// one user on one machine are two.
type stamp struct{ holder, mark string }

func newStamp(holder string) stamp {
	text := strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return -1
		}
		return r
	}, holder)
	return stamp{holder: text[:min(len(text), 120)], mark: rand.Text()[:8]}
}

const (
	stampHead  = "vpnctl lock of "
	stampMark  = ", run "
	stampUntil = ", until "
)

func (s stamp) describe(until time.Time) string {
	return stampHead + s.holder + stampMark + s.mark + stampUntil + until.UTC().Format(time.RFC3339)
}

// readStamp reads what describe wrote. The holder is free text, so the marks are
// looked for from the end.
func readStamp(description string) (stamp, time.Time, bool) {
	rest, ok := strings.CutPrefix(description, stampHead)
	u, m := strings.LastIndex(rest, stampUntil), 0
	if ok && u >= 0 {
		m = strings.LastIndex(rest[:u], stampMark)
	}
	if !ok || u < 0 || m < 0 {
		return stamp{}, time.Time{}, false
	}
	until, err := time.Parse(time.RFC3339, rest[u+len(stampUntil):])
	return stamp{holder: rest[:m], mark: rest[m+len(stampMark) : u]}, until, err == nil
}

// sighting ties the server's clock to ours: at some moment between sent and got
// it was server, and less than a second more, because a Date has whole seconds.
type sighting struct{ sent, got, server time.Time }

// now is the earliest that the server's clock can show at one of our moments.
func (s sighting) now(here time.Time) time.Time { return s.server.Add(here.Sub(s.got)) }

// term is how long the lock is ours, in our own clock.
type term struct {
	seen    sighting
	renewAt time.Time
	endsAt  time.Time
}

// newTerm counts from the moment the request was sent, as if the server had
// answered at once at the end of its second. A quarter of the time to live is
// left for calls in flight: at endsAt nobody else can have taken over.
func newTerm(seen sighting, until time.Time, ttl time.Duration) term {
	left := until.Sub(seen.server) - time.Second
	return term{seen: seen, renewAt: seen.sent.Add(left / 2), endsAt: seen.sent.Add(left - ttl/4)}
}

// own records that the lock is ours until then.
func (l *Lock) own(port Held, seen sighting, until time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held = port
	l.term = newTerm(seen, until, l.options.TTL)
}

func (l *Lock) current() term {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.term
}

// freshen extends a term that began short, because the create was long on its
// way.
func (l *Lock) freshen(ctx context.Context) error {
	if l.held.ID == "" || l.current().endsAt.Sub(l.options.Clock.Now()) > l.options.TTL/4 {
		return nil
	}
	if err := l.extend(ctx); err != nil {
		return errors.Join(err, l.claimant.DeleteLock(context.WithoutCancel(ctx), l.held.ID))
	}
	return nil
}

// renew extends the term at its half, and tries again while a renewal fails.
func (l *Lock) renew() {
	retry := l.options.TTL / 16
	for {
		wait := l.current().renewAt.Sub(l.options.Clock.Now())
		for {
			if l.options.Clock.Sleep(l.ctx, wait) != nil {
				return
			}
			err := l.extend(l.ctx)
			if err == nil {
				break
			}
			if errors.Is(err, ErrLost) {
				l.lose(err)
				return
			}
			wait = retry
		}
	}
}

func (l *Lock) extend(ctx context.Context) error {
	sent := l.options.Clock.Now()
	until := l.current().seen.now(sent).Add(l.options.TTL).Truncate(time.Second)
	port, err := l.claimant.RenewLock(ctx, l.held.ID, l.stamp.describe(until))
	if err != nil {
		return err
	}
	seen := l.sighted(sent, port, l.current().seen)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.term = newTerm(seen, until, l.options.TTL)
	return nil
}

// watch ends the run when its term does.
func (l *Lock) watch() {
	for {
		left := l.current().endsAt.Sub(l.options.Clock.Now())
		if left <= 0 {
			l.lose(fmt.Errorf("%w: it could not be renewed for %s", ErrLost, l.options.TTL*3/4))
			return
		}
		if l.options.Clock.Sleep(l.ctx, left) != nil {
			return
		}
	}
}

func (l *Lock) lose(why error) {
	l.cancel(fmt.Errorf("estate %s: %w", l.options.Estate, why))
}

// LockAddress is the default address of the lock: the last host of the transit
// subnet.
func LockAddress(subnet netip.Prefix) netip.Addr {
	if !subnet.IsValid() || !subnet.Addr().Is4() || subnet.Bits() > 30 {
		return netip.Addr{}
	}
	b := subnet.Masked().Addr().As4()
	for i := subnet.Bits(); i < 31; i++ {
		b[i/8] |= 1 << (7 - i%8)
	}
	return netip.AddrFrom4(b)
}
