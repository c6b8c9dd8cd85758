package state

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"time"
)

// LockTTL is how long a lock lives that nobody renews.
const LockTTL = 2 * time.Minute

// The lock's errors. Those of a Claimant are named at its methods.
var (
	ErrHeld    = errors.New("address is taken")
	ErrRefused = errors.New("choosing an address is not allowed on this network")
	ErrLost    = errors.New("the estate's lock is lost")
	ErrLocked  = errors.New("the estate is locked")
)

// Held is a port as a Claimant sees it. Now is the server's own time (the Date of
// the answer) and is set in every answer, found or not: expiry is judged by it
// alone.
type Held struct {
	ID          string
	Name        string
	Description string
	Now         time.Time
}

// Claimant makes the one claim that the cloud decides atomically: a port on a
// given address.
type Claimant interface {
	// CreateLock creates the port. ErrHeld: the address is taken. ErrRefused: the
	// network is someone else's, who doesn't let us choose addresses.
	CreateLock(ctx context.Context, name, description string, addr netip.Addr) (Held, error)
	// FindLock finds the port on the address, whatever its name.
	FindLock(ctx context.Context, addr netip.Addr) (Held, bool, error)
	// RenewLock writes the description. ErrLost: the port is gone.
	RenewLock(ctx context.Context, id, description string) (Held, error)
	// DeleteLock deletes the port; one that is gone is no error.
	DeleteLock(ctx context.Context, id string) error
}

// Clock is the time that passes here. It measures how long something took; what
// time it is only the server knows.
type Clock interface {
	Now() time.Time
	// Sleep waits, or returns the context's error once that is done.
	Sleep(ctx context.Context, d time.Duration) error
}

// LockOptions say what to lock and how long to wait.
type LockOptions struct {
	Estate  string
	Holder  string     // who we are, for others to read: user@host
	Address netip.Addr // of the transit subnet; see LockAddress
	Timeout time.Duration
	TTL     time.Duration // zero: LockTTL
	Clock   Clock         // nil: the machine's
	// Ended is a holder whose run is known to have ended without giving its lock back: that
	// lock counts only until the last calls of that run are done. Empty: nobody.
	Ended string
	// Waiting is told, once, who holds the lock that is waited for; nil: nobody is.
	Waiting func(holder string, until time.Time)
}

// Lock is a claim on the estate while its run lasts.
type Lock struct {
	options  LockOptions
	claimant Claimant
	stamp    stamp
	held     Held // zero ID: running without, see Warning

	ctx    context.Context
	cancel context.CancelCauseFunc
	keep   sync.WaitGroup

	met rival // whose lock was met last

	mu   sync.Mutex
	term term
	once sync.Once
	gone error
}

// Acquire takes the estate's lock, waiting up to the timeout for another run.
// ErrLocked: it waited in vain; the text says for whom. A port on the address
// that is no lock is named and refused. Where the cloud lets nobody choose
// addresses, the lock is empty and has a Warning.
func Acquire(ctx context.Context, c Claimant, o LockOptions) (*Lock, error) {
	if o.TTL == 0 {
		o.TTL = LockTTL
	}
	if o.Clock == nil {
		o.Clock = machine{}
	}
	l := &Lock{options: o, claimant: c, stamp: newStamp(o.Holder)}
	err := l.claim(ctx)
	if err == nil {
		err = l.freshen(ctx)
	}
	if err != nil && !errors.Is(err, ErrRefused) {
		return nil, fmt.Errorf("locking estate %s: %w", o.Estate, err)
	}
	l.ctx, l.cancel = context.WithCancelCause(ctx)
	if l.held.ID != "" {
		l.keep.Go(l.renew)
		l.keep.Go(l.watch)
	}
	return l, nil
}

// Context is the run's: it ends with the one given to Acquire, on Release, and
// when the lock is lost, then with a cause that wraps ErrLost.
func (l *Lock) Context() context.Context { return l.ctx }

// Warning says that the run goes on without a lock, and why; empty otherwise.
func (l *Lock) Warning() string {
	if l.held.ID != "" {
		return ""
	}
	return fmt.Sprintf("no lock on estate %s: the network of %s lets us choose no address, so nothing keeps two runs apart but the check after new allocations",
		l.options.Estate, l.options.Address)
}

// Release ends the run and removes the lock, also when ctx has ended already: a
// run that was interrupted leaves nothing that others would wait for.
func (l *Lock) Release(ctx context.Context) error {
	l.once.Do(func() {
		l.cancel(nil)
		l.keep.Wait()
		if l.held.ID == "" {
			return
		}
		if err := l.claimant.DeleteLock(context.WithoutCancel(ctx), l.held.ID); err != nil {
			l.gone = fmt.Errorf("removing the lock of estate %s (others wait for it at most %s): %w", l.options.Estate, l.options.TTL, err)
		}
	})
	return l.gone
}

// machine is the clock of the machine.
type machine struct{}

func (machine) Now() time.Time { return time.Now() }

func (machine) Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
