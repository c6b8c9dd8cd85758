package agent

import (
	"context"
	"fmt"
	"maps"
	"net/netip"
	"sync"
	"time"

	"github.com/vpnctl/vpnctl/agent/resolve"
)

// lookups is how many names are looked up at once: name servers that are away make
// each one wait.
const lookups = 8

// names keeps host names resolved, beside the loop: name servers take their time. Its
// methods may be called from any goroutine.
type names struct {
	resolver resolve.Resolver
	now      func() time.Time
	changed  func() // an address is another one
	fresh    chan struct{}

	mu     sync.Mutex
	wanted []string                 // in order of importance
	forbid resolve.Forbid           // addresses that no name may lead to
	known  map[string]*resolve.Name // by host; lent out while it is looked up
	shown  map[string]resolve.Name
	moves  int                   // how often an address has changed
	turns  int                   // how often a problem has
	old    map[string]netip.Addr // of before; nil: they were taken over
}

func newNames(r resolve.Resolver, now func() time.Time, changed func()) *names {
	return &names{
		resolver: r, now: now, changed: changed, fresh: make(chan struct{}, 1),
		known: map[string]*resolve.Name{}, shown: map[string]resolve.Name{},
	}
}

// recall tells which addresses were in use before: they are kept for as long as their
// names have them.
func (n *names) recall(old map[string]netip.Addr) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.old = maps.Clone(old)
}

// want replaces the list of what is looked after, and what counts as an answer: a name
// that stands for an address which is forbidden from now on stands for none at once.
func (n *names) want(hosts []string, forbid resolve.Forbid) {
	n.mu.Lock()
	defer n.mu.Unlock()
	known, shown := map[string]*resolve.Name{}, map[string]resolve.Name{}
	for _, h := range hosts {
		name := n.known[h]
		if name == nil {
			name = &resolve.Name{Host: h, Address: n.old[h]}
			shown[h] = *name
		} else {
			shown[h] = n.shown[h]
		}
		known[h] = name
	}
	n.wanted, n.known, n.shown, n.old, n.forbid = hosts, known, shown, nil, forbid
	select {
	case n.fresh <- struct{}{}:
	default:
	}
}

// get is what is known of a name.
func (n *names) get(host string) resolve.Name {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.checked(host)
}

// checked is a name as it was shown, less an address that was found before it was
// forbidden.
func (n *names) checked(host string) resolve.Name {
	name := n.shown[host]
	if n.forbid == nil || !name.Address.IsValid() {
		return name
	}
	if why := n.forbid(name.Address); why != "" {
		name.Problem = fmt.Sprintf("its address %s is not used: %s", name.Address, why)
		name.Address = netip.Addr{}
	}
	return name
}

// address is what a name stands for; the zero Addr where that is not known.
func (n *names) address(host string) netip.Addr { return n.get(host).Address }

// problem is what is wrong with a name; empty: nothing that is known.
func (n *names) problem(host string) string { return n.get(host).Problem }

// addresses are those in use, to be recalled.
func (n *names) addresses() map[string]netip.Addr {
	n.mu.Lock()
	defer n.mu.Unlock()
	all := map[string]netip.Addr{}
	for host := range n.shown {
		if name := n.checked(host); name.Address.IsValid() {
			all[host] = name.Address
		}
	}
	return all
}

// problems are what is wrong, by name.
func (n *names) problems() map[string]string {
	n.mu.Lock()
	defer n.mu.Unlock()
	all := map[string]string{}
	for host := range n.shown {
		if name := n.checked(host); name.Problem != "" {
			all[host] = name.Problem
		}
	}
	return all
}

// news counts the changes of addresses, and of problems.
func (n *names) news() (moves, turns int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.moves, n.turns
}

// run looks names up when they are due, until ctx ends.
func (n *names) run(ctx context.Context) {
	for ctx.Err() == nil {
		wait := n.refresh(ctx)
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
		case <-n.fresh:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// refresh looks up what is due, and says in how long the next one will be.
func (n *names) refresh(ctx context.Context) time.Duration {
	due, wait := n.due()
	var side sync.WaitGroup
	places := make(chan struct{}, lookups)
	for _, name := range due {
		places <- struct{}{}
		side.Go(func() {
			defer func() { <-places }()
			n.look(ctx, name)
		})
	}
	side.Wait()
	if len(due) > 0 {
		_, wait = n.due()
	}
	return wait
}

// due lists the names to look up now, and says when the next one will be due.
func (n *names) due() (due []*resolve.Name, wait time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	now := n.now()
	wait = time.Hour
	for _, host := range n.wanted {
		name := n.known[host]
		if name.Due(now) {
			due = append(due, name)
		}
		wait = min(wait, max(name.Next.Sub(now), 0))
	}
	return due, wait
}

// look looks one name up and shows what came of it.
func (n *names) look(ctx context.Context, name *resolve.Name) {
	n.mu.Lock()
	forbid := n.forbid
	n.mu.Unlock()
	before := name.Problem
	moved := name.Refresh(ctx, n.resolver, n.now(), forbid)
	n.mu.Lock()
	if n.known[name.Host] == name {
		n.shown[name.Host] = *name
		if moved {
			n.moves++
		}
		if name.Problem != before {
			n.turns++
		}
	}
	n.mu.Unlock()
	if moved {
		n.changed()
	}
}
