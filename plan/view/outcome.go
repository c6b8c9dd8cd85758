package view

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// Report is how an apply went.
type Report struct {
	Outcomes []Outcome
	Elapsed  time.Duration
	Given    []Given   // gateways that are new or whose addresses changed
	Plan     plan.Plan // what was carried out; what it held or refused is still to do
	Next     string    // how to go on with what is held: "vpnctl apply --prune"

	Color bool
	Width int // of the terminal; 0: unknown
}

// Given is a gateway with its addresses.
type Given struct {
	Owner     vpn.Owner
	Addresses Addresses
}

// Outcome is what became of one change. Neither done nor failed: it was not
// begun, because what it needs failed or the run was stopped.
type Outcome struct {
	Change  plan.Change
	Done    bool
	Failed  bool
	Stopped bool   // not begun because the run was asked to stop
	Err     error  // why it failed or was not begun
	Cure    string // what has to be done before another try helps; empty: nothing
}

// Outcomes writes the report of an apply: for every gateway that is not
// finished its errors, what was done and what was not; the addresses that were
// given; how much was done, and what is left to do. Nothing needs undoing after
// an apply that failed, and the report says so.
func Outcomes(w io.Writer, report Report) error {
	r := &reporter{Report: report, ink: ink(report.Color)}
	var gateways, links figure
	var unfinished []*ownerOutcome
	for _, o := range owners(r.Outcomes) {
		switch {
		case o.owner.IsZero():
		case o.owner.Gateway():
			gateways.count(o.finished())
		default:
			links.count(o.finished())
		}
		if !o.finished() {
			unfinished = append(unfinished, o)
		}
	}
	for _, group := range alike(unfinished) {
		if len(group) > likeShown {
			r.many(group)
			continue
		}
		for _, o := range group {
			r.unfinished(o)
		}
	}
	for _, g := range r.Given {
		for _, line := range given(g.Owner, g.Addresses, r.columns()) {
			r.line(line)
		}
	}
	r.required()
	r.closing(gateways, links)
	r.left()
	return write(w, r.b.String())
}

// required says what gateways need that are finished and new, or have new peers.
func (r *reporter) required() {
	finished := map[vpn.Owner]bool{}
	for _, o := range owners(r.Outcomes) {
		finished[o.owner] = o.finished()
	}
	for _, o := range r.Plan.Owners {
		if s := required(o); s != "" && finished[o.Owner] {
			for _, line := range words(ownerName(o.Owner)+"  "+s, r.columns()) {
				r.line(line)
			}
		}
	}
}

type reporter struct {
	Report
	b   strings.Builder
	ink ink
}

func (r *reporter) columns() int { return Options{Width: r.Width}.columns() }

func (r *reporter) line(parts ...string) {
	r.b.WriteString(strings.Join(parts, ""))
	r.b.WriteByte('\n')
}

func (r *reporter) unfinished(o *ownerOutcome) {
	name := ownerName(o.owner)
	for _, f := range o.failed {
		r.line(r.ink.sign(signFailed), " ", r.ink.paint(bold, name), ": ", step(f.Change), ": ", oneLine(f.Err))
	}
	if len(o.failed) == 0 {
		r.line(r.ink.sign(signHeld), " ", r.ink.paint(bold, name), ": ", o.halt())
	}
	r.sum(o)
}

// many writes what gateways of one namespace, or links, have in common.
func (r *reporter) many(group []*ownerOutcome) {
	first := group[0]
	name := fmt.Sprintf("%s of %s, such as %s", count(len(group), "gateway"), Plain(first.owner.Namespace), Plain(first.owner.Name))
	if !first.owner.Gateway() {
		name = fmt.Sprintf("%s, such as %s", count(len(group), "link"), Plain(first.owner.Name))
	}
	all := &ownerOutcome{failed: first.failed}
	for _, o := range group {
		all.done, all.undone = append(all.done, o.done...), append(all.undone, o.undone...)
	}
	for _, f := range first.failed {
		r.line(r.ink.sign(signFailed), " ", r.ink.paint(bold, name), ": ", step(f.Change), ": ", oneLine(f.Err))
	}
	if len(first.failed) == 0 {
		r.line(r.ink.sign(signHeld), " ", r.ink.paint(bold, name), ": ", first.halt())
	}
	r.sum(all)
}

// sum says what was done, what was not, and what helps.
func (r *reporter) sum(o *ownerOutcome) {
	var parts []string
	if len(o.done) > 0 {
		parts = append(parts, "done: "+tallied(o.done))
	}
	if len(o.undone) > 0 {
		parts = append(parts, "not done: "+tallied(o.undone))
	}
	for _, line := range wrap(strings.Join(append(parts, o.advice()), dot), r.columns()-len(reportIndent)) {
		r.line(reportIndent, line)
	}
}

const reportIndent = "    "

// closing counts what was done, by the plan's rule and of all that was planned. The
// changes that list what stands are made only where something has changed: where
// a gateway failed they may be missing among the outcomes.
func (r *reporter) closing(gateways, links figure) {
	changes, all := counted(r.Outcomes)
	s := fmt.Sprintf("Applied %s", count(changes, "change"))
	if changes < all {
		all = max(all, r.Plan.Summary().Pending())
		s = fmt.Sprintf("%s applied, %d of %s done", applied(gateways, links), changes, count(all, "change"))
	}
	if r.Elapsed > 0 {
		s += " in " + seconds(r.Elapsed)
	}
	r.line(s + ".")
}

// figure is how many there are, and how many of them are finished.
type figure struct{ done, all int }

func (f *figure) count(finished bool) {
	f.all++
	f.done += btoi(finished)
}

// applied is "2 of 3 gateways and 1 of 1 link", without those of which there are none.
func applied(gateways, links figure) string {
	var parts []string
	if gateways.all > 0 || links.all == 0 {
		parts = append(parts, fmt.Sprintf("%d of %s", gateways.done, count(gateways.all, "gateway")))
	}
	if links.all > 0 {
		parts = append(parts, fmt.Sprintf("%d of %s", links.done, count(links.all, "link")))
	}
	return strings.Join(parts, " and ")
}

// counted is how many of the changes that count were done, and how many there are.
func counted(outcomes []Outcome) (done, all int) {
	changes, did := make([]plan.Change, len(outcomes)), map[resource.ID]bool{}
	for i, o := range outcomes {
		changes[i] = o.Change
		did[o.Change.ID] = o.Done
	}
	for c := range plan.Counted(changes) {
		all++
		done += btoi(did[c.ID])
	}
	return done, all
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
