package wireguard

import (
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/agent/volume"
)

func TestTotalsOnlyGrow(t *testing.T) {
	before := &volume.WireGuard{Peers: []volume.WireGuardPeer{{Name: "one", PublicKey: "k", Received: 100, Sent: 10}}}
	type reading struct {
		key            string
		received, sent uint64
		away           bool
	}
	for sentence, c := range map[string]struct {
		before    *volume.WireGuard
		userspace bool
		readings  []reading
		want      [2]uint64 // received, sent
	}{
		"counted from nothing":                     {nil, false, []reading{{"k", 5, 1, false}, {"k", 7, 2, false}}, [2]uint64{7, 2}},
		"the device starts anew":                   {nil, false, []reading{{"k", 5, 9, false}, {"k", 2, 1, false}}, [2]uint64{7, 10}},
		"the peer is away":                         {nil, false, []reading{{"k", 5, 9, false}, {"", 0, 0, true}}, [2]uint64{5, 9}},
		"it comes back":                            {nil, false, []reading{{"k", 5, 9, false}, {"", 0, 0, true}, {"k", 1, 1, false}}, [2]uint64{6, 10}},
		"it has another key":                       {nil, false, []reading{{"k", 5, 9, false}, {"l", 50, 90, false}}, [2]uint64{55, 99}},
		"a new agent on the kernel's device":       {before, false, []reading{{"k", 120, 11, false}}, [2]uint64{120, 11}},
		"a new agent with a device of its own":     {before, true, []reading{{"k", 120, 11, false}}, [2]uint64{220, 21}},
		"a new agent, the device was deleted":      {before, false, []reading{{"k", 3, 2, false}}, [2]uint64{103, 12}},
		"a new agent, and another key":             {before, false, []reading{{"l", 120, 11, false}}, [2]uint64{220, 21}},
		"a new agent that hasn't seen it yet":      {before, true, []reading{{"", 0, 0, true}}, [2]uint64{100, 10}},
		"a new agent twice, on devices of its own": {before, true, []reading{{"k", 5, 5, false}, {"k", 4, 4, false}}, [2]uint64{109, 19}},
	} {
		t.Run(sentence, func(t *testing.T) {
			totals := NewTotals(c.before, c.userspace)
			var got *volume.WireGuard
			for _, r := range c.readings {
				config, state := Config{Peers: []Peer{{Name: "one", PublicKey: r.key}}}, State{}
				if !r.away {
					state.Peers = []PeerState{{Name: "one", PublicKey: r.key, Received: r.received, Sent: r.sent}}
				}
				got = totals.Publish(config, state, c.userspace, nil)
			}
			if p := got.Peers[0]; [2]uint64{p.Received, p.Sent} != c.want {
				t.Errorf("received %d, sent %d; want %v", p.Received, p.Sent, c.want)
			}
		})
	}
}

func TestLastSeen(t *testing.T) {
	spoke := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	got := LastSeen(&volume.WireGuard{Peers: []volume.WireGuardPeer{
		{Name: "spoke", Endpoint: "198.51.100.7:51820", Handshake: spoke},
		{Name: "spoken to", Endpoint: "198.51.100.8:51820"},
		{Name: "nowhere", Handshake: spoke},
	}})
	want := map[string]netip.AddrPort{
		"spoke": netip.MustParseAddrPort("198.51.100.7:51820"), "spoken to": netip.MustParseAddrPort("198.51.100.8:51820"),
	}
	if diff := cmp.Diff(want, got, byText); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if got := LastSeen(nil); len(got) > 0 {
		t.Errorf("of nothing: %v", got)
	}
}

func TestEveryConfiguredPeerIsPublished(t *testing.T) {
	handshake := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	config := Config{Peers: []Peer{{Name: "b", PublicKey: "kb"}, {Name: "a", PublicKey: "ka"}, {Name: "c", PublicKey: "kb"}}}
	state := State{PublicKey: "own", Peers: []PeerState{
		{Name: "b", PublicKey: "kb", Endpoint: netip.MustParseAddrPort("198.51.100.7:1"), Handshake: handshake, Received: 3, Sent: 4},
		{Name: "", PublicKey: "stranger"},
	}}
	totals := NewTotals(nil, true)
	want := &volume.WireGuard{PublicKey: "own", Userspace: true, Peers: []volume.WireGuardPeer{
		{Name: "b", PublicKey: "kb", Endpoint: "198.51.100.7:1", Handshake: handshake, Received: 3, Sent: 4},
		{Name: "a", PublicKey: "ka", Problem: "its key is missing"},
		{Name: "c", PublicKey: "kb", Problem: "public key: b has it"},
	}}
	problems := map[string]string{"a": "its key is missing", "c": "public key: b has it"}
	if diff := cmp.Diff(want, totals.Publish(config, state, true, problems)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	// Who is configured no more is forgotten, and starts at zero when it comes back.
	totals.Publish(Config{}, State{}, true, nil)
	if got := totals.Publish(config, State{}, true, nil).Peers[0].Received; got != 0 {
		t.Errorf("a peer that was gone has received %d", got)
	}
}
