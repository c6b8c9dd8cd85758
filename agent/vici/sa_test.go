package vici

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	govici "github.com/strongswan/govici/vici"

	"github.com/vpnctl/vpnctl/agent/vici/fakecharon"
)

var compared = cmp.Options{cmpopts.EquateComparable(netip.AddrPort{}, netip.Prefix{}), cmpopts.EquateEmpty()}

// parsed reads a list-sa event.
func parsed(t *testing.T, v map[string]any) []SA {
	t.Helper()
	m, err := govici.MarshalMessage(v)
	if err != nil {
		t.Fatal(err)
	}
	var all []SA
	for _, sub := range (fields{m}).sections() {
		all = append(all, readSA(sub))
	}
	return all
}

func TestReadSA(t *testing.T) {
	old := map[string]any{
		"name": "net-0", "uniqueid": "36", "state": "DELETED", "bytes-in": "7", "rekey-time": "-4", "install-time": "3600",
		"encr-alg": "AES_CBC", "encr-keysize": "256", "integ-alg": "HMAC_SHA2_256_128", "dh-group": "ECP_256",
		"local-ts": []string{"100.64.3.0/24[tcp/80]"}, "remote-ts": []string{"10.0.0.3..10.0.0.9", "10.1.0.0/24"},
	}
	live := map[string]any{
		"name": "net-0", "uniqueid": "37", "state": "INSTALLED", "bytes-in": "18446744073709551615", "bytes-out": "10",
		"packets-in": "2", "packets-out": "3", "rekey-time": "3241", "install-time": "3", "encr-alg": "AES_GCM_16", "encr-keysize": "256",
		"local-ts": []string{"100.64.3.0/24"}, "remote-ts": []string{"10.1.0.0/24", "10.2.0.0/24"},
	}
	network := netip.MustParsePrefix
	for sentence, c := range map[string]struct {
		in   map[string]any
		want []SA
	}{
		"connecting: most is missing": {
			map[string]any{"a": map[string]any{"uniqueid": "4", "state": "CONNECTING", "initiator": "yes", "local-host": "%any", "local-port": "500",
				"remote-host": "198.51.100.7", "remote-port": "500", "local-id": "%any", "remote-id": "%any",
				"tasks-queued": []string{"CHILD_CREATE"}, "child-sas": map[string]any{}}},
			[]SA{{Connection: "a", ID: 4, State: Connecting, Initiator: true, Remote: netip.MustParseAddrPort("198.51.100.7:500"),
				LocalID: "%any", RemoteID: "%any", Tasks: true}},
		},
		"the peer initiated, a child was rekeyed": {
			map[string]any{"a": map[string]any{"uniqueid": "4", "state": "ESTABLISHED", "established": "3", "rekey-time": "-2",
				"local-host": "10.91.0.10", "local-port": "4500", "remote-host": "2001:db8::7", "remote-port": "4500", "local-id": "gw", "remote-id": "p",
				"encr-alg": "AES_CBC", "encr-keysize": "256", "integ-alg": "HMAC_SHA2_256_128", "prf-alg": "PRF_HMAC_SHA2_256", "dh-group": "ECP_256",
				"child-sas": map[string]any{"net-0-36": old, "net-0-37": live}}},
			[]SA{{Connection: "a", ID: 4, State: Established, Established: 3 * time.Second, RekeyIn: -2 * time.Second,
				Local: netip.MustParseAddrPort("10.91.0.10:4500"), Remote: netip.MustParseAddrPort("[2001:db8::7]:4500"), LocalID: "gw", RemoteID: "p",
				Proposal: "AES_CBC-256/HMAC_SHA2_256_128/PRF_HMAC_SHA2_256/ECP_256",
				Children: []ChildSA{
					{Name: "net-0", ID: 36, State: "DELETED", BytesIn: 7, RekeyIn: -4 * time.Second, Installed: time.Hour,
						Proposal: "AES_CBC-256/HMAC_SHA2_256_128/ECP_256",
						LocalTS:  []netip.Prefix{network("100.64.3.0/24")}, RemoteTS: []netip.Prefix{network("10.1.0.0/24")}},
					{Name: "net-0", ID: 37, State: Installed, BytesIn: 1<<64 - 1, BytesOut: 10, PacketsIn: 2, PacketsOut: 3,
						RekeyIn: 3241 * time.Second, Installed: 3 * time.Second, Proposal: "AES_GCM_16-256",
						LocalTS: []netip.Prefix{network("100.64.3.0/24")}, RemoteTS: []netip.Prefix{network("10.1.0.0/24"), network("10.2.0.0/24")}},
				}}},
		},
		"a connection without anything": {map[string]any{"a": map[string]any{"state": "CREATED"}}, []SA{{Connection: "a", State: "CREATED"}}},
	} {
		t.Run(sentence, func(t *testing.T) {
			got := parsed(t, c.in)
			byID := cmpopts.SortSlices(func(a, b ChildSA) bool { return a.ID < b.ID })
			if diff := cmp.Diff(c.want, got, compared, byID); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestTwoSAsOfOneConnection come as two events of one name, and both count.
func TestTwoSAsOfOneConnection(t *testing.T) {
	charon, socket := daemon(t)
	charon.Change(func([]fakecharon.SA) []fakecharon.SA {
		return []fakecharon.SA{{Connection: "a", State: "ESTABLISHED"}, {Connection: "a", State: "CONNECTING"}, {Connection: "b", State: "ESTABLISHED"}}
	})
	all, err := dial(t, socket).SAs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int{}
	for _, sa := range all {
		got[sa.Connection]++
	}
	if diff := cmp.Diff(map[string]int{"a": 2, "b": 1}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestListsAreComplete while other sessions and this one initiate.
func TestListsAreComplete(t *testing.T) {
	const n = 300
	charon, socket := daemon(t)
	charon.Change(func([]fakecharon.SA) []fakecharon.SA {
		var all []fakecharon.SA
		for i := range n {
			all = append(all, fakecharon.SA{Connection: fmt.Sprintf("c%d", i), State: "ESTABLISHED", Children: []fakecharon.Child{{Name: "x", State: "INSTALLED"}}})
		}
		return all
	})
	s := dial(t, socket)
	c := loaded(t, s, "c0")
	busy := make(chan error)
	go func() {
		var failed error
		for range 100 {
			if err := s.Initiate(t.Context(), c.Name, c.Children[0].Name); err != nil {
				failed = err
			}
		}
		busy <- failed
	}()
	for range 20 {
		all, err := s.SAs(t.Context())
		if len(all) != n || err != nil {
			t.Errorf("%d SAs, %v; want %d", len(all), err, n)
		}
	}
	if err := <-busy; err != nil {
		t.Errorf("initiating meanwhile: %v", err)
	}
}

func TestInitiateAndTerminate(t *testing.T) {
	charon, socket := daemon(t)
	s := dial(t, socket)
	a, b := loaded(t, s, "a"), loaded(t, s, "b")
	for _, child := range []string{a.Children[0].Name, a.Children[1].Name, a.Children[1].Name} {
		if err := s.Initiate(t.Context(), "a", child); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Initiate(t.Context(), "b", b.Children[0].Name); err != nil {
		t.Fatal(err)
	}
	up := func() map[string][]string {
		all, err := s.SAs(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		got := map[string][]string{}
		for _, sa := range all {
			got[sa.Connection] = []string{}
			for _, child := range sa.Children {
				got[sa.Connection] = append(got[sa.Connection], child.Name)
			}
		}
		return got
	}
	if diff := cmp.Diff(map[string][]string{"a": {"a-a", "a-b"}, "b": {"b-a"}}, up()); diff != "" {
		t.Errorf("after initiating (-want +got)\n%s", diff)
	}
	for sentence, c := range map[string]struct {
		end  func() (int, error)
		want int
	}{
		"a child under its connection":        {func() (int, error) { return s.TerminateChild(t.Context(), "a", "a-a") }, 1},
		"a child under another's connection":  {func() (int, error) { return s.TerminateChild(t.Context(), "b", "a-b") }, 0},
		"a connection that nobody knows":      {func() (int, error) { return s.TerminateConnection(t.Context(), "c") }, 0},
		"a connection":                        {func() (int, error) { return s.TerminateConnection(t.Context(), "b") }, 1},
		"an SA by a number that nobody knows": {func() (int, error) { return 0, s.TerminateSA(t.Context(), 4711) }, 0},
	} {
		if got, err := c.end(); got != c.want || err != nil {
			t.Errorf("%s: %d, %v; want %d", sentence, got, err, c.want)
		}
	}
	if diff := cmp.Diff(map[string][]string{"a": {"a-b"}}, up()); diff != "" {
		t.Errorf("after terminating (-want +got)\n%s", diff)
	}
	if err := s.TerminateSA(t.Context(), uint32(charon.SAs()[0].ID)); err != nil || len(up()) > 0 {
		t.Errorf("by its number: %v, left %v", err, up())
	}
}
