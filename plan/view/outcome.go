package view

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// Outcome is what became of one change. Neither done nor failed: it was not
// begun, because what it needs failed or the run was stopped.
type Outcome struct {
	Change plan.Change
	Done   bool
	Failed bool
	Err    error // why it failed or was not begun
}

// Outcomes writes the report of an apply: for every gateway that is not
// finished its errors, what was done and what was not, and a closing line.
// Nothing needs undoing after an apply that failed, and the report says so.
func Outcomes(w io.Writer, outcomes []Outcome, elapsed time.Duration, color bool) error {
	r := &report{ink: ink(color)}
	done, gateways := 0, 0
	for _, o := range owners(outcomes) {
		if !o.owner.IsZero() {
			gateways++
			done += btoi(o.finished())
		}
		if !o.finished() {
			r.unfinished(o)
		}
	}
	r.closing(done, gateways, outcomes, elapsed)
	return write(w, r.b.String())
}

type report struct {
	b   strings.Builder
	ink ink
}

// ownerOutcome is what became of one gateway.
type ownerOutcome struct {
	owner        vpn.Owner
	failed       []Outcome
	done, undone []string
	why          error // of the first change that was not begun
}

func (o *ownerOutcome) finished() bool { return len(o.failed)+len(o.undone) == 0 }

func owners(outcomes []Outcome) []*ownerOutcome {
	var all []*ownerOutcome
	index := map[vpn.Owner]*ownerOutcome{}
	for _, x := range outcomes {
		o := index[x.Change.Owner]
		if o == nil {
			o = &ownerOutcome{owner: x.Change.Owner}
			index[x.Change.Owner] = o
			all = append(all, o)
		}
		switch {
		case x.Done:
			o.done = append(o.done, step(x.Change))
		case x.Failed:
			o.failed = append(o.failed, x)
		default:
			o.undone = append(o.undone, step(x.Change))
			o.why = cmp.Or(o.why, x.Err)
		}
	}
	return all
}

// step names a change within its gateway.
func step(c plan.Change) string {
	switch {
	case !c.ID.Kind.Cloud():
		return kubernetesStep
	case c.ID.Kind == resource.KindApplied:
		return "record"
	}
	return steps.Replace(c.ID.Kind.Short())
}

var steps = strings.NewReplacer("-ip", " IP", "-", " ")

const kubernetesStep = "Kubernetes object"

func (r *report) unfinished(o *ownerOutcome) {
	name := ownerName(o.owner)
	for _, f := range o.failed {
		r.line(r.ink.sign(signFailed), " ", r.ink.paint(bold, name), ": ", step(f.Change), ": ", oneLine(f.Err))
	}
	if len(o.failed) == 0 {
		r.line(r.ink.sign(signHeld), " ", r.ink.paint(bold, name), ": ", oneLine(o.why))
	}
	var parts []string
	if len(o.done) > 0 {
		parts = append(parts, "done: "+tallied(o.done))
	}
	if len(o.undone) > 0 {
		parts = append(parts, "not done: "+tallied(o.undone))
	}
	r.line("    ", strings.Join(append(parts, "nothing needs undoing, run apply again"), " · "))
}

func (r *report) line(parts ...string) {
	r.b.WriteString(strings.Join(parts, ""))
	r.b.WriteByte('\n')
}

func (r *report) closing(done, gateways int, outcomes []Outcome, elapsed time.Duration) {
	changes := 0
	for _, x := range outcomes {
		changes += btoi(x.Done)
	}
	s := fmt.Sprintf("Applied %s", count(changes, "change"))
	if changes < len(outcomes) {
		s = fmt.Sprintf("%d of %s applied, %d of %s done", done, count(gateways, "gateway"), changes, count(len(outcomes), "change"))
	}
	if elapsed > 0 {
		s += " in " + seconds(elapsed)
	}
	r.line(s + ".")
}

// tallied joins steps in their order, equal ones once with their number.
func tallied(steps []string) string {
	figures := map[string]int{}
	for _, s := range steps {
		figures[s]++
	}
	var parts []string
	for _, s := range steps {
		n := figures[s]
		delete(figures, s)
		switch {
		case n > 1 || n == 1 && s == kubernetesStep:
			parts = append(parts, count(n, s))
		case n == 1:
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, ", ")
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

func ownerName(o vpn.Owner) string {
	if o.IsZero() {
		return "estate"
	}
	return Plain(o.Path())
}

func oneLine(err error) string {
	if err == nil {
		err = errors.New("not begun")
	}
	return Plain(strings.Join(strings.Fields(err.Error()), " "))
}
