package simulator_test

import (
	"fmt"
	"testing"

	"github.com/vpnctl/vpnctl/cloud/simulator"
)

// large makes a cloud with n ports, groups and floating IPs, as n gateways would have.
func large(b *testing.B, n int, dir string) *api {
	s, err := simulator.New(simulator.Options{Dir: dir, Seed: simulator.Seed{SubnetCIDR: "10.0.0.0/8", FloatingIPCIDR: "198.18.0.0/15"}})
	if err != nil {
		b.Fatal(err)
	}
	a := connect(b, s, "operator")
	network, pool := a.network("vpn-transit"), a.network("public")
	for i := range n {
		group := a.net("POST", "/security-groups", fmt.Sprintf(`{"security_group": {"name": "g%d"}}`, i), 201).id("security_group")
		a.net("PUT", "/security-groups/"+group+"/tags", `{"tags": ["managed", "estate=e"]}`, 200)
		for port := range 8 {
			a.net("POST", "/security-group-rules", fmt.Sprintf(`{"security_group_rule": {"security_group_id": %q, "direction": "ingress",
				"protocol": "udp", "port_range_min": %d, "port_range_max": %d, "remote_ip_prefix": "198.51.100.7/32"}}`, group, port+1, port+1), 201)
		}
		p := a.port(network, fmt.Sprintf(`, "name": "g%d", "security_groups": [%q]`, i, group)).id("port")
		a.net("POST", "/floatingips", fmt.Sprintf(`{"floatingip": {"floating_network_id": %q, "port_id": %q}}`, pool, p), 201)
	}
	return a
}

// BenchmarkLists reads what a plan of 1,000 gateways reads.
func BenchmarkLists(b *testing.B) {
	a := large(b, 1000, "")
	for _, path := range []string{"/ports", "/security-groups", "/floatingips", "/security-groups?tags=managed", "/ports?fields=id&fields=name"} {
		b.Run(path, func(b *testing.B) {
			for b.Loop() {
				res, err := a.http.Do(request(b, a, path))
				if err != nil {
					b.Fatal(err)
				}
				res.Body.Close()
			}
		})
	}
}

// BenchmarkOpen opens the state of 1,000 gateways, as each run on a state directory does, and logs in.
func BenchmarkOpen(b *testing.B) {
	dir := b.TempDir()
	large(b, 1000, dir)
	for b.Loop() {
		s, err := simulator.New(simulator.Options{Dir: dir})
		if err != nil {
			b.Fatal(err)
		}
		connect(b, s, "operator")
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
