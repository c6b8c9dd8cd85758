package board

import "fmt"

// Standby is what a replica that doesn't lead knows of its turn.
type Standby struct {
	Estate string
	Lease  string // namespace/name
	Leader string // who leads; empty: nobody is known to
	Err    error  // why its turn can't come; nil: it comes once the leader is gone
}

// StandBy shows what a replica waits for, and tells what it waited for before. One that
// can't ever lead as things are isn't ready.
func (b *Board) StandBy(s Standby) (before Standby) {
	b.mu.Lock()
	defer b.mu.Unlock()
	before, b.standby = b.standby, s
	return before
}

// Text is what the page says.
func (s Standby) Text() string {
	switch {
	case s.Err != nil:
		return ""
	case s.Leader != "":
		return fmt.Sprintf("This replica stands by: %s runs the rounds and shows the estate.", s.Leader)
	}
	return "This replica stands by: no leader is known yet."
}
