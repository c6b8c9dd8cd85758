package view

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// Progress shows an apply while it runs: a live line per gateway on a terminal,
// elsewhere one line per gateway once it is finished. It may be used from
// several goroutines.
type Progress struct {
	w     io.Writer
	o     ProgressOptions
	ink   ink
	mu    sync.Mutex
	all   map[vpn.Owner]*activity
	order []*activity // begun and not finished
	drawn int         // live lines on the screen
	frame int
}

// ProgressOptions say where progress is shown.
type ProgressOptions struct {
	Live  bool // w is a terminal that understands cursor movements
	Color bool
	Width int // of the terminal; 0: 80
	Now   func() time.Time
}

// activity is one gateway's progress.
type activity struct {
	owner   vpn.Owner
	left    int // changes that are not settled yet
	all     int // those that count, and how many of them are settled and done
	settled int
	good    int
	counts  map[resource.ID]bool
	begun   time.Time
	done    []string
	current string // what is in flight
	since   time.Time
	failed  bool
	skipped bool
}

// NewProgress prepares for the changes that will be carried out.
func NewProgress(w io.Writer, changes []plan.Change, o ProgressOptions) *Progress {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Width == 0 {
		o.Width = 80
	}
	p := &Progress{w: w, o: o, ink: ink(o.Color), all: map[vpn.Owner]*activity{}}
	for _, c := range changes {
		p.activity(c.Owner).left++
	}
	for c := range plan.Counted(changes) {
		a := p.activity(c.Owner)
		a.all++
		a.counts[c.ID] = true
	}
	return p
}

// Started tells that a change is in flight.
func (p *Progress) Started(c plan.Change) {
	p.mu.Lock()
	defer p.mu.Unlock()
	a := p.activity(c.Owner)
	if a.begun.IsZero() {
		a.begun = p.o.Now()
		p.order = append(p.order, a)
	}
	a.current, a.since = doing(c), p.o.Now()
	p.draw("")
}

// Settled tells that a change is done, has failed (err is set) or will not be
// begun any more (skipped).
func (p *Progress) Settled(c plan.Change, skipped bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	a := p.activity(c.Owner)
	a.left--
	a.current = ""
	a.settled += btoi(a.counts[c.ID])
	switch {
	case skipped:
		a.skipped = true
	case err != nil:
		a.failed = true
	default:
		a.done = append(a.done, step(c))
		a.good += btoi(a.counts[c.ID])
	}
	if a.left > 0 {
		p.draw("")
		return
	}
	p.finish(a)
}

// Tick moves the live lines on; call it a few times a second. It does nothing
// where there are none.
func (p *Progress) Tick() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.frame++
	p.draw("")
}

// Close takes the live lines away.
func (p *Progress) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.order = nil
	p.draw("")
}

func (p *Progress) activity(o vpn.Owner) *activity {
	if p.all[o] == nil {
		p.all[o] = &activity{owner: o, counts: map[resource.ID]bool{}}
	}
	return p.all[o]
}

func (p *Progress) finish(a *activity) {
	for i, other := range p.order {
		if other == a {
			p.order = append(p.order[:i], p.order[i+1:]...)
			break
		}
	}
	if a.begun.IsZero() {
		return // nothing of it was begun; the report says so
	}
	sign := signOK
	switch {
	case a.failed:
		sign = signFailed
	case a.skipped:
		sign = signHeld
	}
	done := tallied(a.done)
	if a.good < a.all {
		done = strings.TrimSuffix(fmt.Sprintf("%d of %s: %s", a.good, count(a.all, "change"), done), ": ")
	}
	p.draw(fmt.Sprintf("%s %s  %s  %s\n", p.ink.sign(sign), pad(ownerName(a.owner), ownerWidth), done, seconds(p.o.Now().Sub(a.begun))))
}

const (
	ownerWidth = 24
	liveLines  = 12
)

var spinner = []rune("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")

// draw writes finished lines for good, above the live ones.
func (p *Progress) draw(finished string) {
	if !p.o.Live {
		io.WriteString(p.w, finished) // progress that can't be shown harms nothing
		return
	}
	var b strings.Builder
	if p.drawn > 0 {
		fmt.Fprintf(&b, "\x1b[%dA\x1b[J", p.drawn)
	}
	b.WriteString(finished)
	p.drawn = 0
	for i, a := range p.order {
		if i == liveLines {
			b.WriteString(fmt.Sprintf("  and %s\n", count(len(p.order)-i, "more gateway")))
			p.drawn++
			break
		}
		b.WriteString(p.live(a))
		p.drawn++
	}
	io.WriteString(p.w, b.String())
}

// live is one gateway's line, never longer than the terminal is wide.
func (p *Progress) live(a *activity) string {
	s := fmt.Sprintf("%c %s  %3d of %d", spinner[p.frame%len(spinner)], pad(ownerName(a.owner), ownerWidth), a.settled, a.all)
	if a.current != "" {
		s += "  " + a.current
		if waited := p.o.Now().Sub(a.since); waited >= 2*time.Second {
			s += fmt.Sprintf(" (%d s)", int(waited.Seconds()))
		}
	}
	if utf8.RuneCountInString(s) >= p.o.Width {
		s = clip(s, p.o.Width-1)
	}
	return s + "\n"
}

// doing says what a change is busy with: "port to worker-3".
func doing(c plan.Change) string {
	s := map[plan.Action]string{plan.Delete: "removing ", plan.Release: "releasing ", plan.Adopt: "adopting "}[c.Action] + step(c)
	if c.After != nil && c.After.Port != nil && c.After.Port.Node != "" {
		s += " on " + Plain(c.After.Port.Node)
	}
	return s + "…"
}
