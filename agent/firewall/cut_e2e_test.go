//go:build e2e

package firewall

import (
	"fmt"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/vpnctl/vpnctl/agent/lab/netns"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

const berlin, oslo = "192.168.10.9", "192.168.40.9"

func TestWithdrawnGrantEndsItsConnectionAndNoOther(t *testing.T) {
	l := newLab(t)
	table := &Table{}
	erp := Host{Map: "host_erp", VirtualIP: netip.MustParseAddr("100.64.7.12"), Target: netip.MustParseAddr("10.20.0.9")}
	l.apply(table, gateway(), erp)
	for _, address := range []string{"10.20.0.5:8080", "10.20.0.9:8080", "10.20.0.9:9090"} {
		l.Ours.Echo(t, address)
	}
	l.Peer.Echo(t, berlin+":502")
	l.Gateway.Echo(t, "10.254.0.18:9903")

	web := l.Peer.Stream(t, berlin, "100.64.7.10:8080")
	reverse := l.Ours.Stream(t, "10.254.0.5", "100.64.7.200:502")
	host := l.Peer.Stream(t, berlin, "100.64.7.12:8080")
	others := map[string]*netns.Stream{
		"another peer's, to the same port":    l.Peer.Stream(t, oslo, "100.64.7.10:8080"),
		"the same peer's, to another address": l.Peer.Stream(t, berlin, "100.64.7.11:9090"),
		"one that isn't translated":           l.Gateway.Stream(t, "10.254.0.18", "10.254.0.18:9903"),
	}
	step := func(name string, change func(in *vpn.Gateway), dead ...*netns.Stream) {
		t.Helper()
		in := gateway()
		change(&in.Gateway)
		start := time.Now()
		_, cut := l.apply(table, in, erp)
		t.Logf("%s: %d ended in %v", name, cut, time.Since(start))
		if cut != len(dead) {
			t.Errorf("%s: %d connections ended, not %d", name, cut, len(dead))
		}
		for _, s := range dead {
			s.Ended(t)
		}
		for sentence, s := range others {
			if !s.GoesOn() {
				_, err := s.Longest()
				t.Errorf("%s: %s: stands still (%v)", name, sentence, err)
			}
		}
	}
	step("nothing withdrawn", func(*vpn.Gateway) {})
	step("an exposure", func(g *vpn.Gateway) { g.Peers[0].Grants.Exposures = []string{"any", "erp"} }, web)
	step("a reverse exposure", func(g *vpn.Gateway) {
		g.Peers[0].Grants = &vpn.Grants{Exposures: []string{"any", "erp"}}
	}, reverse)
	step("a host", func(g *vpn.Gateway) { g.Peers[0].Grants = &vpn.Grants{Exposures: []string{"any"}} }, host)
	const last = "the same peer's, to another address"
	any := others[last]
	delete(others, last)
	step("a peer", func(g *vpn.Gateway) { g.Peers = g.Peers[1:] }, any)
	for sentence, s := range map[string]*netns.Stream{"an exposure's": web, "a reverse exposure's": reverse, "a host's": host, "a peer's": any} {
		if s.Flows(300 * time.Millisecond) {
			t.Errorf("%s connection came back after it was ended", sentence)
		}
	}
}

func TestConnectionsToAFormerTargetEnd(t *testing.T) {
	l := newLab(t)
	table := &Table{}
	l.apply(table, gateway())
	l.Ours.Echo(t, "10.20.0.5:8080")
	l.Ours.Echo(t, "10.20.0.9:8080")
	web := l.Peer.Stream(t, berlin, "100.64.7.10:8080")
	any := l.Peer.Stream(t, berlin, "100.64.7.11:8080")

	in := gateway()
	in.Gateway.Exposures[0].Target.Address = netip.MustParseAddr("10.20.0.9")
	if _, cut := l.apply(table, in); cut != 1 {
		t.Errorf("%d connections ended, not 1", cut)
	}
	web.Ended(t)
	if !any.GoesOn() {
		t.Error("a connection to another exposure stands still")
	}
	if !l.Peer.Stream(t, berlin, "100.64.7.10:8080").GoesOn() {
		t.Error("the new target isn't reached")
	}
}

// TestReplacingLosesNoPacket replaces the ruleset over and over while two peers
// send datagrams, each of which must come back.
func TestReplacingLosesNoPacket(t *testing.T) {
	l := newLab(t)
	table := &Table{}
	l.apply(table, gateway())
	l.Ours.Echo(t, "10.20.0.9:53")
	conn, err := l.Peer.DialUDP(oslo, "100.64.7.11:53")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()

	stop, done := make(chan bool), make(chan [2]int)
	go func() {
		var sent, lost int
		buffer := make([]byte, 16)
		for {
			select {
			case <-stop:
				done <- [2]int{sent, lost}
				return
			default:
			}
			sent++
			text := fmt.Sprintf("%016d", sent)
			fmt.Fprint(conn, text)
			_ = conn.SetReadDeadline(time.Now().Add(5 * time.Second)) // a busy machine is late, and loses nothing
			if n, err := conn.Read(buffer); err != nil || string(buffer[:n]) != text {
				lost++
			}
		}
	}()
	const times = 100
	for i := range times {
		in := gateway()
		if i%2 == 0 {
			in.Gateway.Peers = in.Gateway.Peers[1:]
		}
		if changed, _ := l.apply(table, in); !changed {
			t.Fatal("the ruleset wasn't replaced")
		}
	}
	stop <- true
	got := <-done
	t.Logf("%d replacements, %d datagrams, %d lost", times, got[0], got[1])
	if got[1] > 0 {
		t.Errorf("%d of %d datagrams lost", got[1], got[0])
	}
}

func TestTenThousandConnections(t *testing.T) {
	l := newLab(t)
	table := &Table{}
	l.apply(table, gateway())
	const each = 5000
	err := l.Peer.Do(func() error {
		for _, from := range []string{berlin, oslo} {
			for port := range each {
				c, err := net.DialUDP("udp4", &net.UDPAddr{IP: net.ParseIP(from), Port: 20000 + port}, &net.UDPAddr{IP: net.ParseIP("100.64.7.11"), Port: 53})
				if err != nil {
					return err
				}
				if _, err := c.Write([]byte("x")); err != nil {
					return err
				}
				c.Close()
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	in := gateway()
	in.Gateway.Peers[1].Grants = &vpn.Grants{Exposures: []string{"web"}}
	rules, text := ruleset(t, in)
	l.in(func() error {
		if _, err := table.Apply(t.Context(), text, nil); err != nil {
			return err
		}
		for _, want := range []int{each, 0} {
			start := time.Now()
			cut, err := CutFlows(rules, nil)
			t.Logf("%d ended in %v", cut, time.Since(start))
			if err != nil || cut != want {
				t.Errorf("%d ended (%v), want %d", cut, err, want)
			}
		}
		return nil
	})
}
