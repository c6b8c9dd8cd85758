package wireguard

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// TestDeviceEqualsItsConfig: whatever configurations follow each other, each with what
// can't be had in it, the device is what the last one says, and has it at once: the
// same one again changes nothing.
func TestDeviceEqualsItsConfig(t *testing.T) {
	for seed := range uint64(12) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			gateway := newEnd(t)
			dice := dice{rand.New(rand.NewPCG(seed, 1)), nil}
			for range 4 {
				key, _ := newKey(t)
				dice.shared = append(dice.shared, key)
			}
			endpoints := map[string]netip.AddrPort{}
			for round := range 25 {
				c := gateway.config(dice.peers()...)
				gateway.apply(t, c)
				got, err := gateway.Read()
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(expected(gateway, c, endpoints), got, byText, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(PeerState{}, "Sent")); diff != "" {
					t.Fatalf("round %d: (-want +got)\n%s", round, diff)
				}
				holdsPreshared(t, gateway, c)
				if again := gateway.apply(t, c); !again.Empty() {
					t.Fatalf("round %d: the same configuration changes %+v", round, again)
				}
				if dice.IntN(5) == 0 {
					gateway.known = memory{} // another agent takes over
					gateway.apply(t, c)
				}
			}
		})
	}
}

// holdsPreshared compares the preshared keys, which no State shows.
func holdsPreshared(t *testing.T, e *end, c Config) {
	t.Helper()
	have, err := e.control.Device("wg0")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range have.Peers {
		i := slices.IndexFunc(c.Peers, func(q Peer) bool { return q.PublicKey == p.PublicKey.String() && q.Missing == "" })
		if want, _ := parseKey(c.Peers[i].Preshared); p.PresharedKey != want {
			t.Errorf("%s has another preshared key than its own", c.Peers[i].Name)
		}
	}
}

// dice make peers of few keys, networks and addresses, so that they get in each
// other's way.
type dice struct {
	*rand.Rand
	shared []Secret
}

func (d dice) peers() []Peer {
	all := make([]Peer, d.IntN(7))
	for i := range all {
		p := &all[i]
		p.Name, p.PublicKey = fmt.Sprint("peer-", i), peerKey(byte(d.IntN(8))).String()
		p.Keepalive = time.Duration(d.IntN(3)) * 10 * time.Second
		for range d.IntN(4) {
			p.AllowedIPs = append(p.AllowedIPs, netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(d.IntN(6)), 0, 9}), 8+8*d.IntN(4)))
		}
		if d.IntN(2) == 0 {
			p.Preshared = d.shared[d.IntN(len(d.shared))]
		}
		if d.IntN(2) == 0 {
			p.Endpoint = netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, byte(1 + d.IntN(2))}), 9)
		}
		if d.IntN(6) == 0 {
			p.Missing = "its key is away"
		}
	}
	return all
}

// expected says what a device with this configuration looks like. endpoints are those
// that it had before, by key: one that isn't configured any more stays.
func expected(e *end, c Config, endpoints map[string]netip.AddrPort) State {
	s := State{PublicKey: e.public, ListenPort: c.ListenPort, FirewallMark: c.FirewallMark}
	taken := map[netip.Prefix]bool{}
	had := map[string]netip.AddrPort{}
	for key, endpoint := range endpoints {
		had[key] = endpoint
		delete(endpoints, key)
	}
	for _, p := range c.Peers {
		if _, there := endpoints[p.PublicKey]; there || p.Missing != "" {
			continue
		}
		endpoint := had[p.PublicKey]
		if p.Endpoint.IsValid() {
			endpoint = p.Endpoint
		}
		endpoints[p.PublicKey] = endpoint
		state := PeerState{Name: p.Name, PublicKey: p.PublicKey, Preshared: len(p.Preshared) > 0, Endpoint: endpoint, Keepalive: p.Keepalive}
		for _, network := range p.AllowedIPs {
			if network = network.Masked(); !taken[network] {
				taken[network] = true
				state.AllowedIPs = append(state.AllowedIPs, network)
			}
		}
		slices.SortFunc(state.AllowedIPs, netip.Prefix.Compare)
		s.Peers = append(s.Peers, state)
	}
	return s
}
