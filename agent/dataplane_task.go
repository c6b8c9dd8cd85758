package agent

import (
	"math/rand/v2"
	"slices"
	"time"
)

// task is something that the files call for: when it is to be done next, and what went
// wrong last.
type task struct {
	part     string
	input    any // of the last attempt: as long as it is the same, due counts
	tried    bool
	due      time.Time
	failures int // in a row
	problems []string
}

// well tells whether the last attempt went well.
func (t *task) well() bool { return t.tried && len(t.problems) == 0 }

// reset forgets the task: what it was for isn't asked for any more.
func (t *task) reset() { *t = task{part: t.part} }

// again makes the task due at once.
func (t *task) again() { t.due = time.Time{} }

// attempt does what is due: at once with another input, after a while otherwise. A
// failure is tried again at growing intervals, which begin when it has shown: one that
// takes long is followed by a rest all the same. It tells whether do was called.
func (l *DataplaneLoop) attempt(t *task, input any, do func() []string) bool {
	now := l.Now()
	if t.tried && t.input == input && now.Before(t.due) {
		return false
	}
	news := !t.tried || t.input != input
	if news {
		t.failures = 0
	}
	t.tried, t.input = true, input
	before := t.problems
	t.problems = do()
	l.alive() // several that take long, one after another, are no standstill
	now = l.Now()
	l.dirty = l.dirty || news || !slices.Equal(before, t.problems)
	if len(t.problems) == 0 {
		t.failures, t.due = 0, now.Add(l.Upkeep)
		return true
	}
	t.failures++
	t.due = now.Add(l.backoff(t.failures))
	return true
}

func (l *DataplaneLoop) backoff(failures int) time.Duration {
	return backoff(failures, l.RetryMin, l.RetryMax)
}

// backoff doubles with each failure in a row, from the least up to the most, less a
// random part.
func backoff(failures int, least, most time.Duration) time.Duration {
	d := least
	for i := 1; i < failures && d < most; i++ {
		d *= 2
	}
	d = min(d, most)
	return d/2 + rand.N(d/2+1)
}

// texts are the problems that an error makes: none, or one.
func texts(err error) []string {
	if err == nil {
		return nil
	}
	return []string{err.Error()}
}
