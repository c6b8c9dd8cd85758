package report

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"
)

// Pace is how often the API is bothered.
type Pace struct {
	Call     time.Duration // the longest that one call may take
	Gap      time.Duration // between two writes of one object
	Figures  time.Duration // between two writes of one object that change figures alone
	Resync   time.Duration // after which what the API has is read again
	Spacing  time.Duration // between two calls for Secrets, and between two for status
	RetryMin time.Duration // after the first failure
	RetryMax time.Duration // after many
}

// DefaultPace is what a cluster of thousands of gateways bears.
var DefaultPace = Pace{
	Call: 10 * time.Second, Gap: time.Second, Figures: time.Minute, Resync: 10 * time.Minute,
	Spacing: 50 * time.Millisecond, RetryMin: time.Second, RetryMax: 30 * time.Second,
}

// backoff doubles with every failure, up to longest, less a random part, so that
// gateways that lost the API together don't return to it together.
func (p Pace) backoff(failures int, longest time.Duration) time.Duration {
	d := p.RetryMin
	for range failures - 1 {
		if d *= 2; d >= longest {
			d = longest
			break
		}
	}
	return d/2 + rand.N(d/2+1)
}

// turns lets one caller through at a time, spaced.
type turns struct {
	spacing time.Duration
	mu      sync.Mutex
	next    time.Time
}

// wait returns when it is the caller's turn, or with the context's error.
func (t *turns) wait(ctx context.Context) error {
	t.mu.Lock()
	now := time.Now()
	turn := t.next
	if turn.Before(now) {
		turn = now
	}
	t.next = turn.Add(t.spacing)
	t.mu.Unlock()
	timer := time.NewTimer(time.Until(turn))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return ctx.Err()
	}
}
