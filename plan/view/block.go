package view

import (
	"fmt"
	"strings"

	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// block is what a plan says about one gateway.
type block struct {
	plan.Owner
	changes []plan.Change
	kept    []plan.Kept
	notices []plan.Notice
	refused []plan.Refusal
}

// blocks sorts a plan by gateway, in the plan's order; what belongs to the
// estate itself comes last.
func blocks(p plan.Plan) []*block {
	var all []*block
	index := map[vpn.Owner]*block{}
	get := func(o vpn.Owner) *block {
		if index[o] == nil {
			index[o] = &block{Owner: plan.Owner{Owner: o}}
			all = append(all, index[o])
		}
		return index[o]
	}
	for _, o := range p.Owners {
		get(o.Owner).Owner = o
	}
	for _, c := range p.Changes {
		b := get(c.Owner)
		b.changes = append(b.changes, c)
	}
	for _, k := range p.Kept {
		b := get(k.Owner)
		b.kept = append(b.kept, k)
	}
	for _, n := range p.Notices {
		if b := index[n.Owner]; b != nil && !n.Owner.IsZero() {
			b.notices = append(b.notices, n)
		}
	}
	for _, r := range p.Refusals {
		if b := index[r.Owner]; b != nil && !r.Owner.IsZero() {
			b.refused = append(b.refused, r)
		}
	}
	return estateLast(all)
}

func estateLast(all []*block) []*block {
	for i, b := range all {
		if b.Owner.Owner.IsZero() {
			return append(append(all[:i:i], all[i+1:]...), b)
		}
	}
	return all
}

// quiet tells whether one line says it all.
func (b *block) quiet() bool {
	return len(b.changes)+len(b.kept)+len(b.notices)+len(b.refused) == 0
}

// impact is the worst of the changes that would be done.
func (b *block) impact() plan.Impact {
	worst := plan.ImpactNone
	for _, c := range b.changes {
		if c.Held == "" {
			worst = max(worst, c.Impact)
		}
	}
	return worst
}

// interrupted are the peers whose tunnels the changes interrupt.
func (b *block) interrupted() []string {
	var peers []string
	for _, c := range b.changes {
		if c.Held == "" {
			peers = append(peers, c.Interrupts...)
		}
	}
	return distinct(peers)
}

// verdict is what stands at the right edge of a gateway's title.
func (b *block) verdict() string {
	pending, held := 0, 0
	for _, c := range b.changes {
		if c.Held == "" {
			pending++
		} else {
			held++
		}
	}
	switch {
	case len(b.refused) > 0:
		return "refused"
	case b.Blocked != "" && b.Waiting > 0:
		return "blocked: " + waits(b.Waiting)
	case b.Blocked != "":
		return "blocked"
	case b.Excluded:
		return "not selected"
	case pending == 0 && held > 0:
		return "held"
	case pending == 0 && b.Gone:
		return "left as it is"
	case pending == 0:
		return "no changes"
	}
	s := "impact: " + b.impact().String()
	if n := len(b.interrupted()); n > 0 && len(b.Peers) > 0 {
		s += fmt.Sprintf(" (%d of %s)", n, count(len(b.Peers), "peer"))
	}
	return s
}

// title is "acme/dc1  VPNGateway ipsec  NEW".
func (b *block) title(estate string) string {
	if b.Owner.Owner.IsZero() {
		return Plain("estate " + estate)
	}
	s := b.Owner.Owner.Path() + "  " + b.Owner.Owner.Kind
	if b.Protocol != "" {
		s += " " + string(b.Protocol)
	}
	switch {
	case b.New:
		s += "  NEW"
	case b.Gone:
		s += "  GONE (" + plan.NoManifest + ")"
	}
	return Plain(s)
}

// besides is what a reason says besides what stands in the title already.
func (b *block) besides(reason string) string {
	rest, said := strings.CutPrefix(reason, plan.NoManifest)
	if !b.Gone || !said {
		return reason
	}
	return strings.TrimLeft(rest, ",;: ")
}

// quietLimit is how many unchanged gateways are worth a line of their own.
const quietLimit = 5

func (t *text) blocks() {
	var quiet []*block
	var excluded []vpn.Owner
	for _, b := range blocks(t.p) {
		switch {
		case b.Excluded && b.quiet() && !t.o.Verbose:
			excluded = append(excluded, b.Owner.Owner)
		case b.quiet() && !b.Owner.Owner.IsZero():
			quiet = append(quiet, b)
		default:
			t.line()
			t.block(b)
		}
	}
	t.quiet(quiet)
	if len(excluded) > 0 {
		t.line()
		t.line(t.ink.paint(dim, company(excluded)+" not selected"))
	}
}

// company is "2 gateways and 1 link", without those of which there are none.
func company(all []vpn.Owner) string {
	gateways := 0
	for _, o := range all {
		if o.Gateway() {
			gateways++
		}
	}
	switch links := len(all) - gateways; {
	case links == 0:
		return count(gateways, "gateway")
	case gateways == 0:
		return count(links, "link")
	default:
		return count(gateways, "gateway") + " and " + count(links, "link")
	}
}

func (t *text) quiet(unchanged []*block) {
	if len(unchanged) == 0 {
		return
	}
	t.line()
	if len(unchanged) > quietLimit && !t.o.Verbose {
		var all []vpn.Owner
		for _, b := range unchanged {
			all = append(all, b.Owner.Owner)
		}
		t.line(t.ink.paint(dim, company(all)+" without changes"))
		return
	}
	for _, b := range unchanged {
		t.titleLine(b)
		t.given(b)
	}
}

// titleLine has the verdict at the right edge, or below where it is too long.
func (t *text) titleLine(b *block) {
	title, verdict := b.title(t.p.Estate), b.verdict()
	gap := t.o.columns() - length(title) - length(verdict)
	if gap >= 2 {
		t.line(t.ink.paint(bold, title), strings.Repeat(" ", gap), t.ink.impact(b.impact(), verdict))
		return
	}
	t.line(t.ink.paint(bold, title))
	for _, line := range wrap(verdict, t.o.columns()-len(lineIndent)) {
		t.line(lineIndent, t.ink.impact(b.impact(), line))
	}
}

func (t *text) block(b *block) {
	t.titleLine(b)
	t.body(b)
}

// given are the addresses that a gateway has, where all was asked for.
func (t *text) given(b *block) {
	s := t.o.Given[b.Owner.Owner].String()
	if !t.o.Verbose || s == "" {
		return
	}
	for _, line := range wrap(s, t.o.columns()-len(lineIndent)) {
		t.line(lineIndent, line)
	}
}

// body is a block without its title.
func (t *text) body(b *block) {
	t.given(b)
	t.lastHeld = ""
	for _, g := range t.groups(t.worth(b.changes)) {
		t.group(g, b)
	}
	if s := b.required(); s != "" {
		for _, line := range words(s, t.o.columns()-len(lineIndent)) {
			t.line(lineIndent, line)
		}
	}
	for _, s := range b.worthTelling() {
		for _, line := range words(s, t.o.columns()-len(lineIndent)) {
			t.line(lineIndent, line)
		}
	}
	for _, k := range b.kept {
		t.entry(signWarning, Plain(k.ID.String()), Plain(keptLine(k)))
	}
	for _, n := range b.notices {
		n.Message = b.besides(n.Message)
		t.notice("  ", n)
	}
}

// worth leaves out the record of what was applied, which comes with every other
// change, unless all was asked for or it comes alone.
func (t *text) worth(changes []plan.Change) []plan.Change {
	if t.o.Verbose || len(changes) < 2 {
		return changes
	}
	var some []plan.Change
	for _, c := range changes {
		if c.ID.Kind != resource.KindApplied {
			some = append(some, c)
		}
	}
	return some
}

func keptLine(k plan.Kept) string {
	if k.Why == "" {
		return k.What + ": kept"
	}
	return k.What + ", " + k.Why + ": kept"
}
