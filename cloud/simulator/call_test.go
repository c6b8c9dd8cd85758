package simulator_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/cloud/simulator"
)

// A simulator that serves for days doesn't fill its memory with what was called.
func TestTheLogKeepsTheLastCalls(t *testing.T) {
	for name, c := range map[string]struct{ keep, calls, logged int }{
		"fewer than it keeps": {5, 4, 4},
		"one more":            {5, 6, 5},
		"many more":           {5, 48, 5},
		"all":                 {simulator.All, 48, 48},
		"by default":          {0, 1100, 1000},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := simulator.New(simulator.Options{Keep: c.keep})
			if err != nil {
				t.Fatal(err)
			}
			a := connect(t, s, "operator")
			s.Reset()
			for range c.calls {
				a.net("GET", "/", "", 200)
			}
			calls := s.Calls()
			if len(calls) != c.logged || s.Seen() != c.calls {
				t.Fatalf("%d calls in the log, %d seen; want %d and %d", len(calls), s.Seen(), c.logged, c.calls)
			}
			if c.keep > 0 && s.Held() > 2*c.keep {
				t.Errorf("%d calls are in memory", s.Held())
			}
			for i, call := range calls {
				if want := c.calls - c.logged + i + 1; call.N != want || call.Status != 200 {
					t.Fatalf("place %d of the log has call %d, status %d; want call %d", i, call.N, call.Status, want)
				}
			}
		})
	}
}

func TestCallsAreLoggedByPattern(t *testing.T) {
	s := cloud(t, simulator.Options{Seed: simulator.Seed{Nodes: []simulator.Node{{Name: "a", ServerID: "node-of-another-form"}}}})
	a := connect(t, s, "operator")
	s.Reset()
	port := a.port(a.network("vpn-transit"), "").id("port")
	a.net("PUT", "/ports/"+port+"/tags", `{"tags": []}`, 200)
	a.net("PUT", "/ports/"+port+"/tags/plain", "", 201)
	a.do("GET", "/compute/v2.1/servers/detail", "")
	a.do("GET", "/compute/v2.1/servers/node-of-another-form/os-interface/"+port, "")
	a.net("GET", "/", "", 200)
	a.do("GET", "/identity/v3/auth/catalog", "")
	want := simulator.Tally{Reads: 4, Writes: 3, Keystone: 1, By: map[string]int{
		"GET /v2.0/networks":                       1,
		"POST /v2.0/ports":                         1,
		"PUT /v2.0/ports/{id}/tags":                1,
		"PUT /v2.0/ports/{id}/tags/{id}":           1,
		"GET /v2.1/servers/detail":                 1,
		"GET /v2.1/servers/{id}/os-interface/{id}": 1,
		"GET /v2.0":                                1,
		"GET /v3/auth/catalog":                     1,
	}}
	calls := s.Calls()
	if diff := cmp.Diff(want, simulator.Count(calls)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if first := calls[0]; first.N != 1 || first.Status != 200 || first.Query != "name=vpn-transit" {
		t.Errorf("the first call is logged as %+v", first)
	}
}
