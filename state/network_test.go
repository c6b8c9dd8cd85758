package state_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"sync"
	"time"

	"github.com/vpnctl/vpnctl/state"
)

var lockAddress = netip.MustParseAddr("10.0.0.254")

// network is a cloud with one address, of which it gives away one port at a time.
type network struct {
	skew   time.Duration // the server's clock against the machine's
	refuse bool          // addresses can't be chosen

	mu   sync.Mutex
	port *state.Held
	made int
	busy *rand.Rand // how long calls take
}

func newNetwork(seed uint64) *network {
	return &network{busy: rand.New(rand.NewPCG(seed, 1))}
}

func (n *network) now() time.Time { return time.Now().Add(n.skew).Truncate(time.Second) }

// travel is the time that half a call takes.
func (n *network) travel() {
	n.mu.Lock()
	d := time.Duration(n.busy.IntN(1500)) * time.Millisecond
	n.mu.Unlock()
	time.Sleep(d)
}

func (n *network) CreateLock(_ context.Context, name, description string, addr netip.Addr) (state.Held, error) {
	n.travel()
	defer n.travel()
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case addr != lockAddress:
		return state.Held{}, errors.New("400 InvalidIpForNetwork")
	case n.refuse:
		return state.Held{}, fmt.Errorf("creating port %s: 403 PolicyNotAuthorized: %w", name, state.ErrRefused)
	case n.port != nil:
		return state.Held{}, fmt.Errorf("creating port %s: 409 IpAddressAlreadyAllocated: %w", name, state.ErrHeld)
	}
	n.made++
	n.port = &state.Held{ID: fmt.Sprintf("port-%d", n.made), Name: name, Description: description}
	return n.answer(), nil
}

func (n *network) FindLock(context.Context, netip.Addr) (state.Held, bool, error) {
	n.travel()
	defer n.travel()
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.answer(), n.port != nil, nil
}

func (n *network) RenewLock(_ context.Context, id, description string) (state.Held, error) {
	n.travel()
	defer n.travel()
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.port == nil || n.port.ID != id {
		return state.Held{}, fmt.Errorf("updating port %s: 404 PortNotFound: %w", id, state.ErrLost)
	}
	n.port.Description = description
	return n.answer(), nil
}

func (n *network) DeleteLock(_ context.Context, id string) error {
	n.travel()
	defer n.travel()
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.port != nil && n.port.ID == id {
		n.port = nil
	}
	return nil
}

func (n *network) answer() state.Held {
	held := state.Held{}
	if n.port != nil {
		held = *n.port
	}
	held.Now = n.now()
	return held
}

func (n *network) holds() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.port == nil {
		return ""
	}
	return n.port.Name
}

// line is one client's connection, which can be cut.
type line struct {
	*network
	// cut says what happens to the call of that number, counted from 1.
	cut   func(call int) damage
	mu    sync.Mutex
	calls int
}

// damage is what a call suffers.
type damage int

const (
	intact damage = iota
	before        // the call never arrives
	after         // the call is done, its answer is lost
)

var errLine = errors.New("connection reset")

func (l *line) call(ctx context.Context, do func() error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	l.mu.Lock()
	l.calls++
	d := intact
	if l.cut != nil {
		d = l.cut(l.calls)
	}
	l.mu.Unlock()
	if d == before {
		return errLine
	}
	if err := do(); err != nil {
		return err
	}
	if d == after {
		return errLine
	}
	return nil
}

func (l *line) CreateLock(ctx context.Context, name, description string, addr netip.Addr) (held state.Held, err error) {
	err = l.call(ctx, func() error {
		held, err = l.network.CreateLock(ctx, name, description, addr)
		return err
	})
	return held, err
}

func (l *line) FindLock(ctx context.Context, addr netip.Addr) (held state.Held, found bool, err error) {
	err = l.call(ctx, func() error {
		held, found, err = l.network.FindLock(ctx, addr)
		return err
	})
	return held, found, err
}

func (l *line) RenewLock(ctx context.Context, id, description string) (held state.Held, err error) {
	err = l.call(ctx, func() error {
		held, err = l.network.RenewLock(ctx, id, description)
		return err
	})
	return held, err
}

func (l *line) DeleteLock(ctx context.Context, id string) error {
	return l.call(ctx, func() error { return l.network.DeleteLock(ctx, id) })
}

// wrong is a machine whose clock is off by a fixed time.
type wrong time.Duration

func (w wrong) Now() time.Time { return time.Now().Add(time.Duration(w)) }

func (w wrong) Sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
