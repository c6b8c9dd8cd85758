package view

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// Waited is one thing that somebody waits for.
type Waited struct {
	Name string
	Met  bool
	Text string // what is missing, or that it has come
}

// Waiting shows what is waited for: a live line each on a terminal, elsewhere a line
// whenever one changes. It may be used from several goroutines.
type Waiting struct {
	w     io.Writer
	o     ProgressOptions
	ink   ink
	mu    sync.Mutex
	all   []Waited
	told  map[string]Waited
	away  string
	drawn int
	frame int
	begun time.Time
}

// NewWaiting begins to wait.
func NewWaiting(w io.Writer, o ProgressOptions) *Waiting {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Width == 0 {
		o.Width = 80
	}
	return &Waiting{w: w, o: o, ink: ink(o.Color), told: map[string]Waited{}, begun: o.Now()}
}

// Set tells how everything stands now, and whether the cluster is away (empty: it isn't).
func (p *Waiting) Set(all []Waited, away string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	changed := away != p.away
	p.all, p.away = all, away
	if p.o.Live {
		p.draw()
		return
	}
	if changed && away != "" {
		fmt.Fprintln(p.w, Plain(away))
	}
	if changed && away == "" {
		fmt.Fprintln(p.w, "cluster is back")
	}
	for _, x := range all {
		if p.told[x.Name] != x {
			p.told[x.Name] = x
			fmt.Fprintln(p.w, p.ink.sign(x.sign())+" "+x.text())
		}
	}
}

func (x Waited) sign() string {
	if x.Met {
		return signOK
	}
	return signHeld
}

func (x Waited) text() string { return Plain(x.Name) + "  " + Plain(x.Text) }

// Tick moves the live lines on; call it a few times a second. It does nothing where there
// are none.
func (p *Waiting) Tick() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.frame++
	p.draw()
}

// Close takes the live lines away.
func (p *Waiting) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all, p.away = nil, ""
	p.draw()
}

// draw writes what isn't met yet, in the place of what it wrote before.
func (p *Waiting) draw() {
	if !p.o.Live {
		return
	}
	var lines []string
	met := 0
	for _, x := range p.all {
		if x.Met {
			met++
			continue
		}
		lines = append(lines, fmt.Sprintf("%c %s", spinner[p.frame%len(spinner)], x.text()))
	}
	if len(lines) > liveLines {
		lines = append(lines[:liveLines], "  and "+count(len(lines)-liveLines, "more gateway"))
	}
	if len(p.all) > 0 {
		lines = append(lines, fmt.Sprintf("%d of %d after %s", met, len(p.all), age(p.o.Now().Sub(p.begun))))
	}
	if p.away != "" {
		lines = append(lines, Plain(p.away))
	}
	var b strings.Builder
	if p.drawn > 0 {
		fmt.Fprintf(&b, "\x1b[%dA\x1b[J", p.drawn)
	}
	for _, line := range lines {
		b.WriteString(clip(line, p.o.Width-1) + "\n")
	}
	p.drawn = len(lines)
	io.WriteString(p.w, b.String()) // progress that can't be shown harms nothing
}
