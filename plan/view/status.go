package view

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/vpnctl/vpnctl/plan/roster"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// StatusOptions say how gateways are shown.
type StatusOptions struct {
	Width int  // of the terminal: what is longer is wrapped, and columns are left out; 0: no limit
	Color bool // it only marks what the words already say
	Wide  bool // more columns, virtual IPs and the public key
	All   bool // every condition and every peer, not only what is not well and the first ones
	Now   time.Time
}

// Status writes a table of gateways, below each its conditions that are not true and its
// peers, then links, peers without a gateway and what can't be read. Nothing at all gives nothing.
func Status(w io.Writer, c roster.Cluster, o StatusOptions) error {
	s := &status{o: o, ink: ink(o.Color)}
	s.gateways(c.Gateways)
	s.links(c.Links)
	s.strays(c.Strays)
	s.broken(c.Broken)
	return write(w, s.b.String())
}

type status struct {
	b   strings.Builder
	o   StatusOptions
	ink ink
}

func (s *status) line(text string) {
	s.b.WriteString(strings.TrimRight(text, " "))
	s.b.WriteByte('\n')
}

// narrow are the columns that a terminal may be too narrow for, the first to go first.
var narrow = []string{"SERVICE CIDR", "NODE", "PROTOCOL", "ADDRESS"}

func (s *status) gateways(all []roster.Gateway) {
	t := grid{titles: []string{"NAMESPACE", "GATEWAY", "PROTOCOL", "ADDRESS", "SERVICE CIDR", "NODE", "PEERS", "READY", "AGE"}}
	if s.o.Wide {
		t.titles = []string{"NAMESPACE", "GATEWAY", "KIND", "PROTOCOL", "ADDRESS", "FIXED ADDRESS", "SERVICE CIDR", "NODE", "PEERS", "READY", "GENERATION", "AGE"}
	}
	for _, g := range all {
		t.rows = append(t.rows, s.row(g, t.titles))
	}
	if len(all) == 0 {
		return
	}
	t.fit(s.o.Width, narrow)
	s.line(s.ink.paint(bold, t.head()))
	for i, g := range all {
		s.line(t.line(i, func(title, cell string) string { return s.ready(title == "READY", cell) }))
		s.gateway(g)
	}
}

func (s *status) row(g roster.Gateway, titles []string) []string {
	var row []string
	for _, title := range titles {
		cell := ""
		switch title {
		case "NAMESPACE":
			cell = g.Owner.Namespace
		case "GATEWAY":
			cell = g.Owner.Name
		case "KIND":
			cell = g.Owner.Kind
		case "PROTOCOL":
			cell = string(g.Protocol)
		case "ADDRESS":
			cell = g.Address
		case "FIXED ADDRESS":
			cell = g.FixedAddress
		case "SERVICE CIDR":
			cell = g.ServiceCIDR
		case "NODE":
			cell = g.Node
		case "PEERS":
			cell = s.tally(g)
		case "READY":
			cell = g.Ready().Word
		case "GENERATION":
			cell = fmt.Sprint(g.Generation)
		case "AGE":
			cell = s.since(g.Created)
		}
		row = append(row, cmp.Or(Plain(cell), "-"))
	}
	return row
}

func (s *status) tally(g roster.Gateway) string {
	all, up, unknown := g.Tally(s.o.Now)
	switch {
	case all == 0:
		return "none"
	case unknown > 0:
		return fmt.Sprintf("%d/%d up, %d unknown", up, all, unknown)
	}
	return fmt.Sprintf("%d/%d up", up, all)
}

// ready colours the word of a Readiness.
func (s *status) ready(is bool, cell string) string {
	if !is {
		return cell
	}
	word := strings.TrimRight(cell, " ")
	return s.ink.paint(wordColors[word], word) + cell[len(word):]
}

var wordColors = map[string]string{
	roster.Yes: green, roster.No: red, roster.NotKnown: yellow, roster.Going: yellow,
	roster.TunnelUp: green, roster.TunnelDown: red, roster.TunnelPart: yellow, roster.TunnelConnecting: yellow,
}

// gateway writes what stands below a gateway's row.
func (s *status) gateway(g roster.Gateway) {
	s.readiness(g.Ready(), g.Manifest)
	s.conditions(g.Manifest, "  ")
	if s.o.Wide {
		s.given(g)
	}
	s.peers(g)
}

// readiness says why a gateway isn't ready, where no condition does.
func (s *status) readiness(r roster.Readiness, m roster.Manifest) {
	for _, c := range m.Wrong() {
		if c.Reason == r.Reason && !m.Outdated(c) && r.Word != roster.Going {
			return
		}
	}
	if r.Word != roster.Yes && r.Message != "" {
		s.wrapped("  "+s.ink.sign(signWarning)+" ", 4, Plain(r.Message))
	}
}

// conditions writes those that aren't true, or all.
func (s *status) conditions(m roster.Manifest, indent string) {
	list := m.Wrong()
	if s.o.All {
		list = m.Conditions
	}
	for _, c := range list {
		parts := []string{Plain(c.Type), Plain(c.Reason), s.since(c.Since)}
		if s.o.All && m.Outdated(c) {
			parts = append(parts, fmt.Sprintf("(of generation %d, now %d)", c.Generation, m.Generation))
		}
		if c.Message != "" {
			parts = append(parts, Plain(c.Message))
		}
		s.wrapped(indent+s.ink.sign(conditionSign(c))+" ", len(indent)+2, strings.Join(parts, "  "))
	}
}

func conditionSign(c roster.Condition) string {
	switch {
	case c.Status == roster.True:
		return signOK
	case c.Status == roster.False && c.Harmless():
		return signWarning
	case c.Status == roster.False:
		return signFailed
	}
	return signHeld
}

// given writes what peers have to know.
func (s *status) given(g roster.Gateway) {
	var parts []string
	for _, v := range g.VirtualIPs {
		reverse := ""
		if v.Reverse {
			reverse = " (reverse)"
		}
		parts = append(parts, Plain(v.Name)+" "+Plain(v.IP)+reverse)
	}
	if len(parts) > 0 {
		s.wrapped("  virtual IPs  ", 15, strings.Join(parts, dot))
	}
	if g.PublicKey != "" && g.Protocol == vpn.WireGuard {
		s.line("  public key   " + Plain(g.PublicKey))
	}
}

// wrapped writes a text after a prefix that shows as so many characters; lines that
// follow are indented as far.
func (s *status) wrapped(prefix string, shown int, text string) {
	lines := []string{text}
	if s.o.Width > 0 {
		lines = wrap(text, max(20, s.o.Width-shown))
	}
	for i, line := range lines {
		if i > 0 {
			prefix = strings.Repeat(" ", shown)
		}
		s.line(prefix + line)
	}
}

// since is how long ago something was; "-" where it isn't known.
func (s *status) since(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return age(s.o.Now.Sub(t))
}

// age is a duration for people: 12s, 18m, 3h12m, 41d. What lies ahead, by a clock that
// differs, is now.
func age(d time.Duration) string {
	d = max(d, 0)
	switch minutes, hours := int(d.Minutes()), int(d.Hours()); {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm", minutes)
	case hours < 24:
		return fmt.Sprintf("%dh%02dm", hours, minutes%60)
	default:
		return fmt.Sprintf("%dd", hours/24)
	}
}
