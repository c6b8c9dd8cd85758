package firewall

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"strings"
	"testing"

	"github.com/vpnctl/vpnctl/render/nat"
)

// rules is a ruleset of the maps that decide.
func rules(elements map[string][]string) nat.Table {
	var t nat.Table
	for name, texts := range elements {
		s := nat.Set{Name: name}
		for _, text := range texts {
			s.Elements = append(s.Elements, nat.Element{Text: text})
		}
		t.Sets = append(t.Sets, s)
	}
	return t
}

func from(protocol, source, virtual string, port uint16, target string) flow {
	number := map[string]uint8{"tcp": 6, "udp": 17, "icmp": 1}[protocol]
	return flow{
		source: netip.MustParseAddr(source), virtual: netip.MustParseAddr(virtual), target: netip.MustParseAddr(target),
		protocol: number, port: port,
	}
}

func TestWhichConnectionsAreAllowed(t *testing.T) {
	table := rules(map[string][]string{
		"grants": {
			"192.168.10.0/24 . 100.64.7.10 . tcp . 443", "192.168.10.0/24 . 100.64.7.10 . udp . 8000-8010",
			"192.168.10.0/24 . 100.64.7.13 . tcp . 443", "192.168.10.0/24 . 100.64.7.14 . udp . 443",
		},
		"grants_any":          {"100.64.7.199/32 . 100.64.7.11", "192.168.20.7 . 100.64.7.11"},
		"reverse_grants":      {"10.254.0.0/24 . 100.64.7.200 . tcp . 502"},
		"reverse_grants_any":  {"10.254.0.0/24 . 100.64.7.201"},
		"targets":             {"100.64.7.10 . tcp . 443 : 10.20.0.5", "100.64.7.10 . udp . 8000-8010 : 10.20.0.5"},
		"targets_any":         {"100.64.7.11 : 10.20.0.6"},
		"reverse_targets":     {"100.64.7.200 . tcp . 502 : 192.168.10.9"},
		"reverse_targets_any": {"100.64.7.201 : 192.168.10.10"},
		"host_erp":            nil, "host_log": nil, "host_late": nil,
		"exposures": {"100.64.7.10"}, "remote": {"192.168.10.0/24"},
	})
	hosts := []Host{
		{"host_erp", netip.MustParseAddr("100.64.7.13"), netip.MustParseAddr("10.20.0.7")},
		{"host_log", netip.MustParseAddr("100.64.7.14"), netip.MustParseAddr("10.20.0.8")},
		{"host_gone", netip.MustParseAddr("100.64.7.10"), netip.MustParseAddr("10.20.0.99")},
	}
	g, err := grantsOf(table, hosts)
	if err != nil {
		t.Fatal(err)
	}
	for sentence, c := range map[string]struct {
		flow flow
		want bool
	}{
		"a granted port":                                    {from("tcp", "192.168.10.9", "100.64.7.10", 443, "10.20.0.5"), true},
		"the first of granted ports":                        {from("udp", "192.168.10.9", "100.64.7.10", 8000, "10.20.0.5"), true},
		"the last of granted ports":                         {from("udp", "192.168.10.9", "100.64.7.10", 8010, "10.20.0.5"), true},
		"the port behind them":                              {from("udp", "192.168.10.9", "100.64.7.10", 8011, "10.20.0.5"), false},
		"the port of another protocol":                      {from("udp", "192.168.10.9", "100.64.7.10", 443, "10.20.0.5"), false},
		"a source beside the network":                       {from("tcp", "192.168.11.9", "100.64.7.10", 443, "10.20.0.5"), false},
		"another virtual IP":                                {from("tcp", "192.168.10.9", "100.64.7.11", 443, "10.20.0.6"), false},
		"any port of a granted address":                     {from("tcp", "100.64.7.199", "100.64.7.11", 1, "10.20.0.6"), true},
		"any protocol of a granted address":                 {from("icmp", "100.64.7.199", "100.64.7.11", 0, "10.20.0.6"), true},
		"a source written without its length":               {from("tcp", "192.168.20.7", "100.64.7.11", 1, "10.20.0.6"), true},
		"another protocol of granted ports":                 {from("icmp", "192.168.10.9", "100.64.7.10", 443, "10.20.0.5"), false},
		"a reverse exposure":                                {from("tcp", "10.254.0.7", "100.64.7.200", 502, "192.168.10.9"), true},
		"a reverse exposure from a peer":                    {from("tcp", "192.168.10.9", "100.64.7.200", 502, "192.168.10.9"), false},
		"any port of a reverse exposure":                    {from("udp", "10.254.0.7", "100.64.7.201", 9, "192.168.10.10"), true},
		"a target that was given up":                        {from("tcp", "192.168.10.9", "100.64.7.10", 443, "10.20.0.4"), false},
		"a reverse target that was given up":                {from("tcp", "10.254.0.7", "100.64.7.200", 502, "192.168.10.8"), false},
		"a host":                                            {from("tcp", "192.168.10.9", "100.64.7.13", 443, "10.20.0.7"), true},
		"a host's former address, by TCP":                   {from("tcp", "192.168.10.9", "100.64.7.13", 443, "10.20.0.1"), true},
		"a host's former address, by UDP":                   {from("udp", "192.168.10.9", "100.64.7.14", 443, "10.20.0.1"), false},
		"a host, by UDP":                                    {from("udp", "192.168.10.9", "100.64.7.14", 443, "10.20.0.8"), true},
		"a host whose map the ruleset doesn't have":         {from("tcp", "192.168.10.9", "100.64.7.10", 443, "10.20.0.99"), false},
		"a translation of another table, to nobody we know": {from("tcp", "10.0.0.1", "10.0.0.2", 80, "10.0.0.3"), false},
	} {
		if got := g.allow(c.flow); got != c.want {
			t.Errorf("%s: %t, want %t", sentence, got, c.want)
		}
	}

	unresolved, err := grantsOf(table, nil)
	if err != nil || !unresolved.allow(from("udp", "192.168.10.9", "100.64.7.14", 443, "10.20.0.1")) {
		t.Errorf("a host that nobody has resolved yet: its connections end (%v)", err)
	}
}

func TestElementsThatCannotBeReadCutNobody(t *testing.T) {
	for _, c := range []struct{ set, element string }{
		{"grants", "192.168.10.0/24 . 100.64.7.10 . tcp . 443 : drop"},
		{"grants", "192.168.10.0/24 . 100.64.7.10 . sctp . 443"},
		{"grants", "192.168.10.0/24 . 100.64.7.10 . tcp"},
		{"grants", "192.168.10.0/24 . 100.64.7.10 . tcp . 443 . 5"},
		{"grants", "192.168.10.0/24 . 100.64.7.10 . tcp . 70000"},
		{"grants", "192.168.10.0/24 . 100.64.7.10 . tcp . 1-https"},
		{"grants_any", "192.168.10.0/24"},
		{"grants_any", "192.168.10.0/33 . 100.64.7.10"},
		{"grants_any", "192.168.10.0/24 . web"},
		{"reverse_grants_any", "192.168.10.0/24 . 100.64.7.10 : accept"},
		{"targets", "100.64.7.10 . tcp . 443 : (known after apply)"},
		{"targets_any", "web : 10.20.0.5"},
		{"reverse_targets", "100.64.7.10 . tcp . : 10.20.0.5"},
	} {
		_, err := CutFlows(rules(map[string][]string{c.set: {c.element}}), nil)
		if err == nil || !strings.Contains(err.Error(), c.element) {
			t.Errorf("%s %q: error %v", c.set, c.element, err)
		}
	}
}

// written is a grant or a target as the test's oracle sees it.
type written struct {
	set      string
	source   netip.Prefix
	virtual  netip.Addr
	protocol string // empty: any
	from, to uint16
	target   netip.Addr // invalid: a grant
}

func (w written) element() string {
	s := w.virtual.String()
	if !w.target.IsValid() {
		s = w.source.String() + " . " + s
	}
	if w.protocol != "" {
		s += fmt.Sprintf(" . %s . %d-%d", w.protocol, w.from, w.to)
	}
	if w.target.IsValid() {
		return s + " : " + w.target.String()
	}
	return s
}

func (w written) fits(f flow) bool {
	if w.virtual != f.virtual || !w.target.IsValid() && !w.source.Contains(f.source) {
		return false
	}
	switch w.protocol {
	case "tcp":
		return f.protocol == 6 && f.port >= w.from && f.port <= w.to
	case "udp":
		return f.protocol == 17 && f.port >= w.from && f.port <= w.to
	}
	return true
}

// TestAllowAgreesWithAPlainReading compares the decision with one that looks at
// every grant and target in turn, for random rulesets and connections.
func TestAllowAgreesWithAPlainReading(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 1))
	address := func(from byte, n int) netip.Addr { return netip.AddrFrom4([4]byte{10, 0, 0, from + byte(r.IntN(n))}) }
	random := func(targets bool) written {
		w := written{virtual: address(100, 4), source: netip.PrefixFrom(address(0, 64), 24+r.IntN(9)).Masked(), set: "grants"}
		if targets {
			w.target, w.set = address(200, 3), "targets"
		}
		if r.IntN(3) > 0 {
			w.protocol, w.from = []string{"tcp", "udp"}[r.IntN(2)], uint16(r.IntN(20))
			w.to = w.from + uint16(r.IntN(10))
		} else {
			w.set += "_any"
		}
		if r.IntN(2) == 0 {
			w.set = "reverse_" + w.set
		}
		return w
	}
	allowed := 0
	for range 2000 {
		var all []written
		elements := map[string][]string{}
		for range r.IntN(12) {
			w := random(r.IntN(3) == 0)
			all = append(all, w)
			elements[w.set] = append(elements[w.set], w.element())
		}
		g, err := grantsOf(rules(elements), nil)
		if err != nil {
			t.Fatal(err)
		}
		for range 20 {
			f := flow{source: address(0, 64), virtual: address(100, 4), target: address(200, 3), protocol: []uint8{1, 6, 17}[r.IntN(3)], port: uint16(r.IntN(32))}
			granted, known, leads := false, false, false
			for _, w := range all {
				switch {
				case !w.fits(f):
				case !w.target.IsValid():
					granted = true
				default:
					known, leads = true, leads || w.target == f.target
				}
			}
			want := granted && (leads || !known)
			if got := g.allow(f); got != want {
				t.Fatalf("seed %d: %v among %v: %t, want %t", seed, f, elements, got, want)
			}
			if want {
				allowed++
			}
		}
	}
	if allowed < 1000 || allowed > 39000 {
		t.Errorf("%d of 40000 connections were allowed: the property says little", allowed)
	}
}
