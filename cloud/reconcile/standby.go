package reconcile

import (
	"errors"
	"fmt"
)

// Standby is what a replica that doesn't lead knows of its turn.
type Standby struct {
	Estate string
	Lease  string // namespace/name
	Leader string // who leads; empty: nobody is known to
	Err    error  // why its turn can't come; nil: it comes once the leader is gone
}

// StandBy shows what a replica waits for. One that can't ever lead as things are isn't
// ready. What changed is logged.
func (c *Controller) StandBy(s Standby) {
	c.prepare()
	before := c.board.standBy(s)
	switch {
	case s.Err != nil && (before.Err == nil || before.Err.Error() != s.Err.Error()):
		c.Log.Error("can't lead", "error", s.Err)
	case s.Err == nil && s.Leader != "" && (before.Leader != s.Leader || before.Err != nil):
		c.Log.Info("another replica leads", "leader", s.Leader, "lease", s.Lease)
	}
}

func (b *board) standBy(s Standby) (before Standby) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if s.Err != nil {
		s.Err = errors.New(stable(s.Err.Error()))
	}
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
	return "This replica stands by: another one runs the rounds and shows the estate."
}
