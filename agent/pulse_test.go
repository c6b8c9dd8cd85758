package agent

import (
	"testing"
	"time"
)

// A loop that stands still is noticed whatever was made of the wall clock: the sign of
// life bears the monotonic reading, and what it is compared with does, too.
func TestPulseIsMonotonic(t *testing.T) {
	for name, pulse := range map[string]func() *pulse{
		"status":    func() *pulse { l := NewStatusLoop("", "", nil, nil); l.alive(); return &l.pulse },
		"dataplane": func() *pulse { l := NewDataplaneLoop("", "", ""); l.alive(); return &l.pulse },
	} {
		p := pulse()
		last := *p.last.Load()
		if last == last.Round(0) {
			t.Errorf("%s: %s has no monotonic reading", name, last)
		}
		if err := p.check(last.Add(time.Minute), time.Minute); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := p.check(last.Add(time.Minute+time.Second), time.Minute); err == nil {
			t.Errorf("%s: standing still for a minute and a second is healthy", name)
		}
	}
	if err := new(pulse).check(time.Now(), time.Minute); err != nil {
		t.Errorf("before the first: %v", err)
	}
}

// said is what the other clock shows, relative to ours.
func TestStamps(t *testing.T) {
	now := time.Date(2026, 11, 30, 1, 0, 0, 0, time.UTC)
	type look struct{ passed, said, age time.Duration }
	const s, hour = time.Second, time.Hour
	for sentence, looks := range map[string][]look{
		"at work":                         {{0, -2 * s, 2 * s}, {5 * s, 3 * s, 2 * s}, {5 * s, 9 * s, s}},
		"stands still":                    {{0, -2 * s, 2 * s}, {20 * s, -2 * s, 22 * s}, {20 * s, -2 * s, 42 * s}},
		"stands still, our clock is late": {{0, hour, 0}, {20 * s, hour, 20 * s}, {20 * s, hour, 40 * s}},
		"their clock steps back":          {{0, -s, s}, {5 * s, -hour, 5 * s}, {5 * s, 5*s - hour, 5 * s}},
		"their clock steps forward":       {{0, -s, s}, {5 * s, hour, 0}, {30 * s, hour, 30 * s}},
		"old at the first look":           {{0, -hour, hour}, {5 * s, 4 * s, s}},
	} {
		all, at := stamps{}, now
		for i, l := range looks {
			at = at.Add(l.passed)
			if got := all.age("x", now.Add(l.said), at); got != l.age {
				t.Errorf("%s, look %d: %s old, want %s", sentence, i, got, l.age)
			}
		}
		all.forget(at.Add(2 * hour))
		if len(all) != 0 {
			t.Errorf("%s: %d are kept for ever", sentence, len(all))
		}
	}
}
