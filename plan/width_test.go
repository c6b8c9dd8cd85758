package plan

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

func TestWidth(t *testing.T) {
	ranges := func(protocol string, ports ...uint16) vpn.Target {
		x := tcp("10.0.0.5")
		for i := 0; i < len(ports); i += 2 {
			x.Protocol, x.Ports = protocol, append(x.Ports, vpn.PortRange{From: ports[i], To: ports[i+1]})
		}
		return x
	}
	host := func(name string, x vpn.Target) vpn.Target {
		x.Address, x.Host = vpn.Target{}.Address, name
		return x
	}
	for sentence, c := range map[string]struct {
		was, is vpn.Target
		want    Width
		says    string
	}{
		"the same":                              {tcp("10.0.0.5", 443), tcp("10.0.0.5", 443), "", ""},
		"no ports any more":                     {tcp("10.0.0.5", 636), tcp("10.0.0.5"), Wider, "ports: tcp 636 → every port and protocol"},
		"ports from now on":                     {tcp("10.0.0.5"), tcp("10.0.0.5", 636), Less, "ports: every port and protocol → tcp 636"},
		"one more":                              {tcp("10.0.0.5", 443), tcp("10.0.0.5", 80, 443), Wider, "ports: tcp 443 → tcp 80, 443"},
		"one less":                              {tcp("10.0.0.5", 80, 443), tcp("10.0.0.5", 443), Less, "ports: tcp 80, 443 → tcp 443"},
		"another one":                           {tcp("10.0.0.5", 443), tcp("10.0.0.5", 8443), Other, "ports: tcp 443 → tcp 8443"},
		"a wider range":                         {ranges("tcp", 100, 200), ranges("tcp", 90, 200), Wider, "ports: tcp 100-200 → tcp 90-200"},
		"a range cut in two":                    {ranges("tcp", 100, 200), ranges("tcp", 100, 149, 151, 200), Less, "ports: tcp 100-200 → tcp 100-149, 151-200"},
		"two ranges that meet hold all of both": {ranges("tcp", 100, 150, 151, 200), ranges("tcp", 100, 200), "", "ports: tcp 100-150, 151-200 → tcp 100-200"},
		"another protocol":                      {ranges("tcp", 53, 53), ranges("udp", 53, 53), Other, "ports: tcp 53 → udp 53"},
		"another target":                        {tcp("10.0.0.5", 443), tcp("10.0.0.6", 443), Other, "target: 10.0.0.5 → 10.0.0.6"},
		"another target with fewer ports":       {tcp("10.0.0.5", 80, 443), tcp("10.0.0.6", 443), Other, "target: 10.0.0.5 → 10.0.0.6; ports: tcp 80, 443 → tcp 443"},
		"a host instead of an address":          {tcp("10.0.0.5", 443), host("a.example", tcp("10.0.0.5", 443)), Other, "target: 10.0.0.5 → a.example"},
		"another host":                          {host("a.example", tcp("10.0.0.5", 443)), host("b.example", tcp("10.0.0.5", 443)), Other, "target: a.example → b.example"},
		"a host that is not known":              {host("", tcp("10.0.0.5", 443)), host("b.example", tcp("10.0.0.5", 443)), "", ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			if got, says := width(c.was, c.is); got != c.want || says != c.says {
				t.Errorf("%q: %s, want %q: %s", got, says, c.want, c.says)
			}
		})
	}
}

// Rows of peers that reach an exposure before and after say what they reach.
func TestWidthsHaveRows(t *testing.T) {
	targets := func(of vpn.Target) func(resource.Graph) map[string]vpn.Target {
		return func(objects resource.Graph) map[string]vpn.Target {
			for _, r := range objects {
				if strings.Contains(r.Object.Content, "web: 100.64.3.0/24 10\n") { // before
					return map[string]vpn.Target{"web": tcp("10.0.0.5", 443)}
				}
			}
			return map[string]vpn.Target{"web": of}
		}
	}
	granted := func(s *site) { s.grants = map[string][]string{"plant1": {"web"}, "plant2": nil} }
	for name, test := range map[string]struct {
		to     vpn.Target
		edit   func(*world)
		want   []string
		widens int
	}{
		"wider":                     {tcp("10.0.0.5"), nil, []string{"plant1 wider: ports: tcp 443 → every port and protocol"}, 1},
		"another target":            {tcp("10.0.0.6", 443), nil, []string{"plant1 other: target: 10.0.0.5 → 10.0.0.6"}, 1},
		"the same":                  {tcp("10.0.0.5", 443), nil, nil, 0},
		"files that are left alone": {tcp("10.0.0.5"), func(w *world) { w.Options.Only = OnlyCloud }, nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			w := between([]site{two().with(granted)}, []site{two().with(func(s *site) { granted(s); s.web = 11 })})
			w.Targets = targets(test.to)
			if test.edit != nil {
				test.edit(w)
			}
			p := Make(w.Input)
			var got []string
			for _, a := range p.Access {
				if a.Width != "" {
					got = append(got, a.Peer+" "+string(a.Width)+": "+a.Note)
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" || p.Summary().Widens != test.widens {
				t.Errorf("%d widen, rows (-want +got):\n%s", p.Summary().Widens, diff)
			}
		})
	}
}

// What a run does not come to is no grant that it opens or closes.
func TestHeldRowsDontCount(t *testing.T) {
	for name, test := range map[string]struct {
		before, after []site
		edit          func(*world)
		opens, closes int
		held          int
	}{
		"a successor that waits for pods": {
			before: []site{dc1()}, after: []site{heir(pinsRange)}, edit: func(w *world) { prune(w); tree(w) }, closes: 2, held: 2,
		},
		"files that wait for the cloud side": {
			after: []site{dc1()}, edit: func(w *world) { w.Options.Only = OnlyKubernetes }, held: 2,
		},
		"nothing waits": {after: []site{dc1()}, opens: 2},
	} {
		t.Run(name, func(t *testing.T) {
			w := between(test.before, test.after)
			if test.edit != nil {
				test.edit(w)
			}
			p := Make(w.Input)
			held := 0
			for _, a := range p.Access {
				held += btoi(a.Held)
			}
			if s := p.Summary(); s.Opens != test.opens || s.Closes != test.closes || held != test.held {
				t.Errorf("%d open, %d close, %d held: %+v", s.Opens, s.Closes, held, outline(p))
			}
		})
	}
}
