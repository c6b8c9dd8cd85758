package agent

import (
	"fmt"
	"maps"
	"sync/atomic"
	"time"
)

// pulse is a loop's last sign of life. It is kept as the clock gave it, with its
// monotonic reading: a wall clock that is set meanwhile neither hides that the loop
// stands still, nor pretends that it does.
type pulse struct{ last atomic.Pointer[time.Time] }

func (p *pulse) beat(now time.Time) { p.last.Store(&now) }

// check fails where the last sign is older than a time. Before the first one it does not.
func (p *pulse) check(now time.Time, stuck time.Duration) error {
	last := p.last.Load()
	if last == nil {
		return nil
	}
	if age := now.Sub(*last); age > stuck {
		return fmt.Errorf("the loop has shown no sign of life for %s", age.Round(time.Second))
	}
	return nil
}

// stamps tell how old a time is that another process, or the kernel, has taken of its
// wall clock. Between two clocks, and over a step of one, such times can't be compared;
// but a time that has changed since the last look is no older than that look, and one
// that hasn't grows older by this process's own clock.
type stamps map[string]stamp

type stamp struct {
	said time.Time // as it was written
	from time.Time // when that was, by this process's clock
	seen time.Time // the last look
}

// forget drops what nobody has asked about for an hour.
func (s stamps) forget(now time.Time) {
	maps.DeleteFunc(s, func(_ string, t stamp) bool { return now.Sub(t.seen) > time.Hour })
}

// age is that of what a subject says now. A time in the future is one of now.
func (s stamps) age(subject string, said, now time.Time) time.Duration {
	before, known := s[subject]
	if !known || !before.said.Equal(said) {
		age := max(0, now.Sub(said))
		if known {
			age = min(age, max(0, now.Sub(before.seen)))
		}
		before = stamp{said: said, from: now.Add(-age)}
	}
	before.seen = now
	s[subject] = before
	return now.Sub(before.from)
}
