package simulator_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/cloud/simulator"
)

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
