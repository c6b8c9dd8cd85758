package wireguard

import (
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.zx2c4.com/wireguard/wgctrl/wgtypes"
)

// peerKey is the public key of a test's n-th peer.
func peerKey(n byte) wgtypes.Key { return wgtypes.Key{n + 1, 31: 0x40} }

func TestEndpointIsSetWhenAnotherOneIsConfigured(t *testing.T) {
	a, b := netip.MustParseAddrPort("198.51.100.7:51820"), netip.MustParseAddrPort("198.51.100.8:51820")
	none := netip.AddrPort{}
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	living, over := now.Add(-time.Minute), now.Add(-4*time.Minute)
	for sentence, c := range map[string]struct {
		configured, last, device netip.AddrPort
		handshake                time.Time
		set                      bool
		remembered               netip.AddrPort
	}{
		"as it was":                           {a, a, a, living, false, a},
		"the peer has moved":                  {a, a, b, living, false, a},
		"it moved, and has been silent since": {a, a, b, over, false, a},
		"another one is configured":           {b, a, a, living, true, b},
		"another one, where the peer is":      {b, a, b, living, false, b},
		"the first one of a peer that spoke":  {b, none, a, living, false, none},
		"the first one of a silent peer":      {b, none, a, over, true, b},
		"a new agent, all as configured":      {a, none, a, living, false, a},
		"a new agent, the device has none":    {a, none, none, time.Time{}, true, a},
		"none any more":                       {none, a, a, living, false, a},
		"a name that doesn't resolve now":     {none, a, b, over, false, a},
		"never one":                           {none, none, a, living, false, none},
	} {
		t.Run(sentence, func(t *testing.T) {
			key := peerKey(0)
			w := want(Config{Peers: []Peer{{Name: "one", PublicKey: key.String(), Endpoint: c.configured}}})
			known := memory{endpoints: map[wgtypes.Key]netip.AddrPort{}}
			if c.last.IsValid() {
				known.endpoints[key] = c.last
			}
			have := &wgtypes.Device{Peers: []wgtypes.Peer{{PublicKey: key, Endpoint: udpAddr(c.device), LastHandshakeTime: c.handshake}}}
			d := diff(w, have, known, now)
			set := len(d.config.Peers) == 1 && d.config.Peers[0].Endpoint != nil
			if set != c.set || set != !d.change.Empty() || d.memory.endpoints[key] != c.remembered {
				t.Errorf("set %v, want %v; remembered %v, want %v", set, c.set, d.memory.endpoints[key], c.remembered)
			}
		})
	}
}

func TestNetworksMoveWithoutBeingLost(t *testing.T) {
	peer := func(n byte, networks ...string) Peer {
		return Peer{Name: string('a' + rune(n)), PublicKey: peerKey(n).String(), AllowedIPs: prefixes(networks...)}
	}
	type step struct {
		peer    string
		replace bool
		add     []netip.Prefix
		remove  bool
	}
	for sentence, c := range map[string]struct {
		before, after []Peer
		want          []step
		changed       []string
	}{
		"another network is added to those that stay": {
			[]Peer{peer(0, "10.0.0.0/24")}, []Peer{peer(0, "10.0.0.0/24", "10.0.1.0/24")},
			[]step{{peer: "a", add: prefixes("10.0.1.0/24")}}, []string{"a"}},
		"one that nobody has any more needs all anew": {
			[]Peer{peer(0, "10.0.0.0/24", "10.0.1.0/24")}, []Peer{peer(0, "10.0.0.0/24")},
			[]step{{peer: "a", replace: true, add: prefixes("10.0.0.0/24")}}, []string{"a"}},
		"one that moves is taken by the other": {
			[]Peer{peer(0, "10.0.0.0/24", "10.0.1.0/24"), peer(1, "10.1.0.0/24")}, []Peer{peer(0, "10.0.0.0/24"), peer(1, "10.0.1.0/24", "10.1.0.0/24")},
			[]step{{peer: "b", add: prefixes("10.0.1.0/24")}}, []string{"a", "b"}},
		"two are exchanged": {
			[]Peer{peer(0, "10.0.0.0/24"), peer(1, "10.1.0.0/24")}, []Peer{peer(0, "10.1.0.0/24"), peer(1, "10.0.0.0/24")},
			[]step{{peer: "a", add: prefixes("10.1.0.0/24")}, {peer: "b", add: prefixes("10.0.0.0/24")}}, []string{"a", "b"}},
		"one goes to a new peer, whose old one goes first": {
			[]Peer{peer(0, "10.0.0.0/24")}, []Peer{peer(1, "10.0.0.0/24")},
			[]step{{peer: "a", remove: true}, {peer: "b", replace: true, add: prefixes("10.0.0.0/24")}}, nil},
		"all is as it was": {[]Peer{peer(0, "10.0.1.0/24", "10.0.0.0/24")}, []Peer{peer(0, "10.0.0.0/24", "10.0.1.0/24")}, nil, nil},
	} {
		t.Run(sentence, func(t *testing.T) {
			have := &wgtypes.Device{}
			for i, p := range c.before {
				have.Peers = append(have.Peers, wgtypes.Peer{PublicKey: must(parseKey([]byte(p.PublicKey))), AllowedIPs: ipNets(c.before[i].AllowedIPs)})
			}
			d := diff(want(Config{Peers: c.after}), have, memory{}, time.Now())
			var got []step
			for _, p := range d.config.Peers {
				s := step{peer: string('a' + rune(p.PublicKey[0]-1)), replace: p.ReplaceAllowedIPs, remove: p.Remove}
				for _, n := range p.AllowedIPs {
					s.add = append(s.add, prefix(n))
				}
				got = append(got, s)
			}
			if diff := cmp.Diff(c.want, got, byText, cmp.AllowUnexported(step{})); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if diff := cmp.Diff(c.changed, d.change.Changed); diff != "" {
				t.Errorf("changed: (-want +got)\n%s", diff)
			}
		})
	}
}

func TestConfigThatADeviceCannotHold(t *testing.T) {
	own, ownPublic := newKey(t)
	key := peerKey(1).String()
	good := Peer{Name: "good", PublicKey: peerKey(0).String(), AllowedIPs: prefixes("10.0.0.0/24")}
	for sentence, c := range map[string]struct {
		peer Peer
		want string
		left int // networks that it has on the device; -1: it is left out
	}{
		"a key that another peer has":     {Peer{PublicKey: good.PublicKey, AllowedIPs: prefixes("10.1.0.0/24")}, "public key: good has it", -1},
		"the gateway's own key":           {Peer{PublicKey: ownPublic}, "public key: it is the gateway's own", -1},
		"no key":                          {Peer{}, "public key: it is empty", -1},
		"a network that another peer has": {Peer{PublicKey: key, AllowedIPs: prefixes("10.0.0.7/24", "10.1.0.0/24")}, "10.0.0.0/24 is good's", 1},
		"a network twice":                 {Peer{PublicKey: key, AllowedIPs: prefixes("10.1.0.0/24", "10.1.0.9/24")}, "", 1},
		"the zero network":                {Peer{PublicKey: key, AllowedIPs: []netip.Prefix{{}}}, "one of its networks is no network", 0},
		"an all-zero preshared key":       {Peer{PublicKey: key, Preshared: Secret("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")}, "preshared key: it is all zero, which stands for no key", -1},
		"a part of a network":             {Peer{PublicKey: key, AllowedIPs: prefixes("10.0.0.7/32")}, "", 1},
	} {
		t.Run(sentence, func(t *testing.T) {
			c.peer.Name = "bad"
			w := want(Config{PrivateKey: own, Peers: []Peer{good, c.peer}})
			if w.problems["bad"] != c.want || w.problems["good"] != "" {
				t.Errorf("problems %v, want %q", w.problems, c.want)
			}
			left := -1
			for _, p := range w.peers {
				if p.name == "bad" {
					left = len(p.allowed)
				}
			}
			if left != c.left || len(w.peers[peerKey(0)].allowed) != 1 {
				t.Errorf("it has %d networks, want %d; good has %v", left, c.left, w.peers[peerKey(0)].allowed)
			}
		})
	}
}
