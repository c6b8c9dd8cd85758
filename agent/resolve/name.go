package resolve

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"time"
)

// How often to look. An answer is trusted for as long as it says, within bounds.
const (
	shortest  = 5 * time.Second
	longest   = 5 * time.Minute
	firstWait = time.Second // after a failure; then twice as long each time
	lastWait  = 30 * time.Second
)

// Name is one host name and what it stands for. Host is given, and Address may be,
// by who remembers it; the rest is Refresh's. It is for one goroutine at a time.
type Name struct {
	Host    string // a name, or an IPv4 address
	Address netip.Addr
	Problem string    // of the last look; empty: it went well
	Checked time.Time // the last look; zero: none yet
	Next    time.Time // not before this

	failures int    // in a row
	full     string // the full name that the address was found under
}

// Due tells whether it is time to look.
func (n *Name) Due(now time.Time) bool { return !now.Before(n.Next) }

// Forbid says why an address must not be used, whoever says that a name stands for it;
// empty: it may. nil forbids nothing.
type Forbid func(netip.Addr) string

// Refresh looks once, and tells whether the address is another now. What goes wrong
// stands in Problem, and the address stays, unless it is forbidden: of the addresses
// of a name only the others are used. It ends when the context does; a look that was
// cancelled counts for nothing.
func (n *Name) Refresh(ctx context.Context, r Resolver, now time.Time, forbid Forbid) (changed bool) {
	before := n.Address
	if n.Address.IsValid() && forbid.why(n.Address) != "" {
		n.Address = netip.Addr{}
	}
	return n.look(ctx, r, now, forbid) || n.Address != before
}

func (n *Name) look(ctx context.Context, r Resolver, now time.Time, forbid Forbid) (changed bool) {
	answer, err := r.Lookup(ctx, n.Host)
	if errors.Is(ctx.Err(), context.Canceled) {
		return false
	}
	if err == nil {
		err = n.doubt(answer)
	}
	var refused string
	if err == nil {
		answer.Addresses, refused = forbid.sort(answer.Addresses)
		if len(answer.Addresses) == 0 {
			err = errors.New(refused)
		}
	}
	n.Checked = now
	if err != nil {
		n.Problem, n.Next = err.Error(), now.Add(wait(n.failures))
		n.failures++
		return false
	}
	n.Problem, n.failures = refused, 0
	n.Next = now.Add(min(max(answer.TTL, shortest), longest))
	n.full = answer.Name
	if slices.Contains(answer.Addresses, n.Address) {
		return false
	}
	n.Address = answer.Addresses[0]
	return true
}

// doubt keeps an address from being given up for what another full name of the
// search list has, only because a name server couldn't say what ours is.
func (n *Name) doubt(a Answer) error {
	if a.Skipped == nil || n.full == "" || n.full == a.Name || slices.Contains(a.Addresses, n.Address) {
		return nil
	}
	return fmt.Errorf("looking up %s: %w", n.Host, a.Skipped)
}

// wait doubles with each failure. Its second half is random, so that the gateways
// of a cluster don't ask all at once.
func wait(failures int) time.Duration {
	d := min(firstWait<<min(failures, 10), lastWait)
	return d/2 + rand.N(d/2)
}

func (f Forbid) why(a netip.Addr) string {
	if f == nil {
		return ""
	}
	return f(a)
}

// sort leaves the forbidden ones out, and says of the first of them why.
func (f Forbid) sort(all []netip.Addr) (good []netip.Addr, refused string) {
	for _, a := range all {
		switch why := f.why(a); {
		case why == "":
			good = append(good, a)
		case refused == "":
			refused = fmt.Sprintf("its address %s is not used: %s", a, why)
		}
	}
	return good, refused
}
