package agent

import (
	"fmt"
	"net/netip"
	"testing"

	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/render/pod"
)

// BenchmarkDataplane has a gateway of 1,000 peers who reach ten exposures each. Its
// kernel costs nothing, so what is measured is the loop: reading, parsing, comparing
// both files, writing dataplane.json.
func BenchmarkDataplane(b *testing.B) {
	g := vpn.Gateway{Protocol: vpn.WireGuard, WireGuard: &vpn.Interface{ListenPort: 51820, PrivateKey: vpn.SecretRef{Name: "key", Key: "k"}}}
	vips, all := map[string]byte{}, []string{}
	for i := range 10 {
		name := fmt.Sprintf("x%d", i)
		g.Exposures = append(g.Exposures, vpn.Exposure{Name: name, Target: vpn.Target{Address: netip.AddrFrom4([4]byte{10, 20, 0, byte(i + 1)})}})
		vips[name] = byte(10 + i)
		all = append(all, name)
	}
	for i := range 1000 {
		g.Peers = append(g.Peers, vpn.Peer{
			Name: fmt.Sprintf("p%04d", i), PublicKey: string(newKey()), Grants: &vpn.Grants{Exposures: all},
			Subnets: []netip.Prefix{netip.PrefixFrom(netip.AddrFrom4([4]byte{172, byte(16 + i/256), byte(i % 256), 0}), 24)},
		})
	}
	before := renderWorld(b, g, vips, nil)
	g.Peers[500].Grants = &vpn.Grants{Exposures: all[:9]}
	after := renderWorld(b, g, vips, nil)
	s := newSite(b)
	s.write(before)
	s.keys(before)
	s.settle()
	b.Run("at rest", func(b *testing.B) {
		for b.Loop() {
			s.pass()
		}
	})
	b.Run("a look at the device", func(b *testing.B) {
		for b.Loop() {
			s.now = s.now.Add(s.loop.Read)
			s.pass()
		}
	})
	b.Run("one peer's grant", func(b *testing.B) {
		worlds := []world{after, before}
		for i := 0; b.Loop(); i++ {
			s.write(worlds[i%2])
			s.pass()
		}
	})
	b.ReportMetric(float64(len(before.rules[pod.KeyRules]))/1024, "KiB-ruleset")
}
