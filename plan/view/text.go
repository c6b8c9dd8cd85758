package view

import (
	"fmt"
	"io"
	"strings"

	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// Text writes a plan for a person at a terminal: a header, one block per
// gateway with its worst impact, who reaches what, what is refused, and the
// lines that answer how much, who is interrupted, who must act and what next.
func Text(w io.Writer, p plan.Plan, o Options) error {
	t := &text{p: p, o: o, ink: ink(o.Color), tally: sum(p)}
	t.header()
	t.blocks()
	t.access()
	t.notices()
	t.refusals()
	t.closing()
	return write(w, t.b.String())
}

// text is one plan being written.
type text struct {
	b     strings.Builder
	signs []byte // of each line: '+', '-', '!' or '@' as in a diff, else ' '
	p     plan.Plan
	o     Options
	ink   ink
	tally tally

	lastHeld string // why the change above is held
}

func (t *text) line(parts ...string) { t.signed(' ', parts...) }

// signed writes a line that a diff would mark. The sign is part of the line
// already; what is only context must not look like one.
func (t *text) signed(sign byte, parts ...string) {
	t.signs = append(t.signs, sign)
	t.b.WriteString(strings.TrimRight(strings.Join(parts, ""), " "))
	t.b.WriteByte('\n')
}

func (t *text) header() {
	for _, line := range wrap(headline(t.p, t.o.Header), t.o.columns()) {
		t.line(t.ink.paint(bold, line))
	}
}

// headline is the first line of a plan in every format.
func headline(p plan.Plan, h Header) string {
	parts := []string{"Estate " + p.Estate}
	if h.Cloud != "" {
		parts = append(parts, "OpenStack "+h.Cloud)
	}
	if h.Target != "" {
		parts = append(parts, "Kubernetes "+h.Target)
	}
	gateways, peers, links := 0, 0, 0
	for _, o := range p.Owners {
		switch {
		case o.Gone:
		case o.Owner.Gateway():
			gateways++
			peers += len(o.Peers)
		default:
			links++
		}
	}
	size := count(gateways, "gateway") + ", " + count(peers, "peer")
	if links > 0 {
		size += ", " + count(links, "link")
	}
	parts = append(parts, size)
	if cost := h.Cost(); cost != "" {
		parts = append(parts, cost)
	}
	return Plain(strings.Join(parts, " · "))
}

// notices writes those that belong to no gateway's block.
func (t *text) notices() {
	var loose []plan.Notice
	listed := map[vpn.Owner]bool{}
	for _, o := range t.p.Owners {
		listed[o.Owner] = !o.Owner.IsZero()
	}
	for _, n := range t.p.Notices {
		if !listed[n.Owner] {
			loose = append(loose, n)
		}
	}
	if len(loose) == 0 {
		return
	}
	t.line()
	for _, n := range loose {
		t.notice("", n)
	}
}

func (t *text) notice(indent string, n plan.Notice) {
	message := Plain(n.Message)
	if indent == "" && !n.Owner.IsZero() {
		message = Plain(n.Owner.Path()) + ": " + message
	}
	t.signed('!', indent, t.ink.sign(signWarning), " ", message)
	if n.Hint != "" {
		t.line(indent, "    hint: ", Plain(n.Hint))
	}
}

func (t *text) refusals() {
	if len(t.p.Refusals) == 0 {
		return
	}
	t.line()
	t.line(t.ink.paint(bold, "Refused"))
	for _, r := range t.p.Refusals {
		t.line("  ", t.ink.sign(signFailed), " ", refusal(r))
		if r.Hint != "" {
			t.line("      hint: ", Plain(r.Hint))
		}
	}
}

// refusal names the object where there is one, else the gateway.
func refusal(r plan.Refusal) string {
	switch {
	case !r.ID.IsZero():
		return fmt.Sprintf("%s: %s", Plain(called(r.ID)), Plain(r.Message))
	case !r.Owner.IsZero():
		return fmt.Sprintf("%s: %s", Plain(r.Owner.Path()), Plain(r.Message))
	}
	return Plain(r.Message)
}

// called is what a person calls a resource: its ID, but for the list at the top of the
// tree, which has the folder's name, a dot.
func called(id resource.ID) string {
	if id.Namespace == "" && id.Name == "." {
		return string(id.Kind) + " at the top of the tree"
	}
	return id.String()
}
