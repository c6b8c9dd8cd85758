package agent

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/plan/vpn"
)

// An edit's two files arrive in either order, and the agent does one thing after the
// other. Whatever moment it is, nobody reaches what neither the state before nor the
// one after lets them reach; and in the end the kernel is what the files say.
func TestEveryOrderOfAnEditIsSafe(t *testing.T) {
	for seed := range uint64(50) {
		random := rand.New(rand.NewPCG(seed, 1))
		before, after := randomWorld(t, random), randomWorld(t, random)
		names := maps.Clone(before.names)
		maps.Copy(names, after.names)
		maps.Copy(after.dns, before.dns)
		allowed := append(before.reach(t), after.reach(t)...)

		s := newSite(t)
		s.write(before)
		s.keys(before)
		s.settle()
		s.reaches(before)
		s.kernel.after = func() {
			for _, reached := range s.kernel.reach(names) {
				if !slices.Contains(allowed, reached) {
					t.Errorf("seed %d: %s", seed, reached)
				}
			}
		}
		s.keys(after)
		if random.IntN(2) == 0 {
			s.swap("config", after.config)
			s.settle()
			s.swap("rules", after.rules)
		} else {
			s.swap("rules", after.rules)
			s.settle()
			s.swap("config", after.config)
		}
		s.settle()
		if diff := cmp.Diff(after.reach(t), s.kernel.reach(names)); diff != "" {
			t.Errorf("seed %d: (-files +kernel)\n%s", seed, diff)
		}
		s.complains()
		if t.Failed() {
			t.Fatalf("log:\n%s", &s.log)
		}
	}
}

// randomWorld is a WireGuard gateway whose addresses, networks, targets and grants are
// dealt anew each time.
func randomWorld(t *testing.T, r *rand.Rand) world {
	some := func(all []string) []string {
		all = slices.Clone(all)
		r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		all = all[:r.IntN(len(all)+1)]
		slices.Sort(all)
		return all
	}
	g := vpn.Gateway{Protocol: vpn.WireGuard, WireGuard: &vpn.Interface{ListenPort: 51820, PrivateKey: vpn.SecretRef{Name: "key", Key: "k"}}}
	vips, addresses := map[string]byte{}, map[string]byte{}
	octets := r.Perm(6)
	for i, name := range some([]string{"x1", "x2", "x3", "x4"}) {
		target := vpn.Target{Address: netip.AddrFrom4([4]byte{10, 20, 0, byte(1 + r.IntN(3))})}
		if r.IntN(3) == 0 {
			target = vpn.Target{Host: fmt.Sprintf("h%d.example", r.IntN(2))}
		}
		if r.IntN(2) == 0 {
			port := uint16(80 + r.IntN(2))
			target.Protocol, target.Ports = "tcp", []vpn.PortRange{{From: port, To: port}}
		}
		g.Exposures = append(g.Exposures, vpn.Exposure{Name: name, Target: target})
		vips[name] = byte(10 + octets[i])
	}
	networks := r.Perm(6)
	for i, name := range some([]string{"p1", "p2", "p3", "p4"}) {
		// The key is the peer's own: that one goes from one peer to another is refused.
		p := vpn.Peer{Name: name, PublicKey: publicKeys[name][r.IntN(2)]}
		if r.IntN(2) == 0 {
			p.RoadWarrior = true
			addresses[name] = byte(190 + networks[i])
		} else {
			p.Subnets = []netip.Prefix{netip.PrefixFrom(netip.AddrFrom4([4]byte{172, 20, byte(networks[i]), 0}), 24)}
		}
		p.Grants = &vpn.Grants{}
		for _, x := range g.Exposures {
			if r.IntN(2) == 0 {
				p.Grants.Exposures = append(p.Grants.Exposures, x.Name)
			}
		}
		g.Peers = append(g.Peers, p)
	}
	for i, name := range []string{"r1", "r2"} {
		target := netip.AddrFrom4([4]byte{172, 20, byte(r.IntN(6)), 9})
		vips[name] = byte(200 + (i+r.IntN(2)*2)%3)
		x := vpn.Exposure{Name: name, Target: vpn.Target{Address: target}}
		if i == 1 && vips["r1"] == vips["r2"] {
			continue
		}
		g.ReverseExposures = append(g.ReverseExposures, x)
		for _, p := range g.Peers {
			if p.Serves(x) && r.IntN(3) > 0 {
				p.Grants.ReverseExposures = append(p.Grants.ReverseExposures, name)
			}
		}
	}
	w := renderWorld(t, g, vips, addresses)
	w.dns = map[string]netip.Addr{"h0.example": netip.MustParseAddr("10.30.0.1"), "h1.example": netip.MustParseAddr("10.30.0.2")}
	return w
}

// publicKeys are two for each peer.
var publicKeys = map[string][2]string{
	"p1": {"xTIBA5rboUvnH4htodjb6e697QjLERt1NAB4mZqp8Dg=", "TrMvSoP4jYQlY6RIzBgbssQqY3vxI2Pi+y71lOWWXX0="},
	"p2": {"gN65BkIKy1eCE9pP1wdc8ROUtkHLF2PfAqYdyYBz6EA=", "qCcnh6Ich+yzRzpboAEEkIj7xoR3i8PY3TNSZHgwtAk="},
	"p3": {"CvGaA/XVLNJKrumVTZ29a1xeaibYbOZha44tt21g43A=", "I+gVbcxtTwG8EyY3BPZyzN8sLibjnoOElJdWMFIzDHQ="},
	"p4": {"c6a55QIOdzCGWp01bPHvKVrMIbKzyi+ZH9gZN/Dusys=", "INncGqBtYvRywBYigmBrTnGG2XBCgJw0fErqESztLjk="},
}
