//go:build e2e

package agent

import (
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vpnctl/vpnctl/agent/lab/configmap"
	"github.com/vpnctl/vpnctl/agent/lab/netns"
	"github.com/vpnctl/vpnctl/agent/report"
	"github.com/vpnctl/vpnctl/agent/volume"
	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/render/pod"
	"github.com/vpnctl/vpnctl/render/swanctl"
)

// These tests want root, /dev/net/tun, swanctl and charon (charon-systemd,
// libcharon-extra-plugins).
//
//	west 192.0.2.1 --- 192.0.2.2 east
//	100.64.3.1 on lo             10.0.0.1, 10.0.1.1 on lo
//
// Each end is a true charon with a status loop of its own, and both loops initiate.

func TestMain(m *testing.M) { os.Exit(netns.Main(m)) }

// end is one of the two.
type end struct {
	base
	ns           netns.Namespace
	charon       *netns.Charon
	dir, address string
	loop         *StatusLoop
	files        report.Folder
	conn         swanctl.Connection
}

// bothEnds builds and starts everything.
func bothEnds(t *testing.T) (west, east *end) {
	t.Helper()
	west, east = newEnd(t, "west", "192.0.2.1"), newEnd(t, "east", "192.0.2.2")
	netns.Wire(t, west.ns, "net1", east.ns, "net1")
	west.ns.IP(t, "addr add "+west.address+"/30 dev net1", "addr add 100.64.3.1/32 dev lo")
	east.ns.IP(t, "addr add "+east.address+"/30 dev net1", "addr add 10.0.0.1/32 dev lo", "addr add 10.0.1.1/32 dev lo")
	west.conn, east.conn = endConnection(west, east), endConnection(east, west)
	service := netip.MustParsePrefix("100.64.3.0/24")
	for k := range 2 {
		behind := netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 0, byte(k), 0}), 24)
		west.conn.Children = append(west.conn.Children, endChild(k, service, behind))
		east.conn.Children = append(east.conn.Children, endChild(k, behind, service))
	}
	for _, e := range []*end{west, east} {
		e.charon.Start(t)
		e.secret("correct horse")
		e.swap()
		e.run()
	}
	return west, east
}

func endConnection(own, other *end) swanctl.Connection {
	return swanctl.Connection{
		Name: "peer", LocalID: own.address, Address: netip.MustParseAddr(other.address), RemoteID: other.address,
		Proposals: []string{"aes256-sha256-ecp256"}, Lifetime: 4 * time.Hour, DPDDelay: 2 * time.Second, DPDTimeout: 10 * time.Second,
	}
}

func endChild(k int, local, remote netip.Prefix) swanctl.Child {
	return swanctl.Child{
		Name: fmt.Sprint("net-", k), Local: local, Remote: []netip.Prefix{remote}, Proposals: []string{"aes256-sha256-ecp256"}, Lifetime: time.Hour,
	}
}

func newEnd(t *testing.T, name, address string) *end {
	t.Helper()
	e := &end{base: base{t}, ns: netns.New(t, name), dir: base{t}.folders("api/psk", "run", "config"), address: address}
	e.files = report.Files(filepath.Join(e.dir, "api"))
	// A gateway pod's, but it gives up sooner.
	e.charon = netns.NewCharon(t, e.ns, filepath.Join(e.dir, "charon"), netns.PodSettings("retransmit_tries = 2", "retransmit_timeout = 1.0"))
	return e
}

func (e *end) secret(text string) {
	e.must(os.WriteFile(filepath.Join(e.files.Dir, "psk", "psk"), []byte(text), 0o600))
}

func (e *end) swap() {
	expect := vpn.Expectation{
		Gateway: vpn.Owner{Kind: vpn.KindIPsecGateway, Namespace: "acme", Name: "dc1"}, Protocol: vpn.IPsec,
		Peers: []vpn.ExpectedPeer{{Name: "peer", ID: e.conn.RemoteID, PresharedKey: vpn.SecretRef{Name: "psk", Key: "psk"}}},
	}
	for _, c := range e.conn.Children {
		expect.Peers[0].Children = append(expect.Peers[0].Children, c.Name)
	}
	text, err := expect.Text()
	e.must(err)
	conf, err := swanctl.Config{Connections: []swanctl.Connection{e.conn}}.Text()
	e.must(err)
	e.must(configmap.Swap(filepath.Join(e.dir, "config"), map[string]string{pod.KeyAgent: text, pod.KeySwanctl: conf}))
}

// run starts the loop, at five times the usual pace.
func (e *end) run() (stop func()) {
	l := NewStatusLoop(filepath.Join(e.dir, "config"), filepath.Join(e.dir, "run"), e.files, e.files)
	e.must(l.Volume.WriteDataplane(volume.Dataplane{Written: time.Now(), Network: volume.Network(), Ruleset: "abc"}))
	l.Socket, l.Log = e.charon.Socket(), slog.New(slog.NewTextHandler(&e.charon.Log, nil))
	l.Tick, l.Gap, l.Refresh = time.Second, 200*time.Millisecond, 2*time.Second
	w := l.Watchdog
	w.Patience, w.First, w.Longest, w.Limit, w.Settle = 800*time.Millisecond, 2*time.Second, 5*time.Second, 4*time.Second, 3*time.Second
	l.Handler()
	e.loop = l
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = l.Run(ctx) })
	stop = sync.OnceFunc(func() { cancel(); running.Wait() })
	e.Cleanup(stop)
	return stop
}

func (e *end) peer() report.Peer {
	if s := e.loop.shown.Load(); s != nil && len(s.peers) == 1 {
		return s.peers[0].Peer
	}
	return report.Peer{}
}

// sas are the IDs of IKE SAs and children as shown last: "1: net-0#1 net-1#2".
func (e *end) sas() string {
	var all []string
	if s := e.loop.shown.Load(); s != nil {
		for _, sa := range s.sas {
			text := fmt.Sprint(sa.ID, ":")
			for _, c := range sa.Children {
				if carries(c.State) {
					text += fmt.Sprint(" ", c.Name, "#", c.ID)
				}
			}
			all = append(all, text)
		}
	}
	return strings.Join(all, "; ")
}

func (e *end) eventually(what string, ok func() bool) {
	e.Helper()
	began := time.Now()
	for !ok() {
		if time.Since(began) > 60*time.Second {
			e.Fatalf("not in time: %s; %+v, SAs %s", what, e.peer(), e.sas())
		}
		time.Sleep(50 * time.Millisecond)
	}
	e.Logf("%-55s %.1f s", what, time.Since(began).Seconds())
}

func (e *end) up() bool {
	p := e.peer()
	return p.State == "ESTABLISHED" && p.Up == 2 && p.Expected == 2
}

func TestTwoAgentsAndTwoCharons(t *testing.T) {
	west, east := bothEnds(t)
	west.eventually("both tunnels are up", func() bool { return west.up() && east.up() })
	west.eventually("under one IKE SA", func() bool {
		return west.up() && east.up() && !strings.Contains(west.sas()+east.sas(), ";") && west.peer().Message == ""
	})
	t.Logf("west %s, east %s", west.sas(), east.sas())

	before := west.sas()
	west.conn.Children[1].Proposals = []string{"aes128gcm16"}
	east.conn.Children[1].Proposals = []string{"aes128gcm16"}
	west.swap()
	east.swap()
	first, _, _ := strings.Cut(before, " net-1")
	west.eventually("one child has new proposals, the other one stays", func() bool {
		return west.up() && east.up() && west.sas() != before && strings.HasPrefix(west.sas(), first)
	})

	west.secret("wrong")
	west.eventually("another key waits", func() bool { return strings.Contains(west.peer().Message, "not in force") })
	if !strings.HasPrefix(west.sas(), first) {
		t.Errorf("SAs %s, were %s", west.sas(), before)
	}
	west.charon.Kill()
	west.eventually("a dead charon is unknown, not down", func() bool { return west.peer().State == report.StateUnknown })
	west.charon.Start(t)
	west.eventually("the wrong key shows", func() bool {
		return west.peer().State == report.StateDown && strings.Contains(west.peer().Message, "AUTHENTICATION_FAILED")
	})
	west.secret("correct horse")
	west.eventually("the right one works", func() bool { return west.up() && east.up() && west.peer().Message == "" })

	before, since := west.sas(), west.peer().Since
	west.charon.Hang(t)
	west.eventually("a hung charon is unknown", func() bool { return west.peer().State == report.StateUnknown })
	west.charon.Resume(t)
	west.eventually("it goes on", west.up)
	if west.sas() != before && !west.peer().Since.Equal(since) {
		t.Logf("the other end had noticed: SAs %s, were %s", west.sas(), before)
	}

	east.ns.IP(t, "link set net1 down")
	west.eventually("a peer that is away doesn't answer", func() bool {
		return west.peer().Up == 0 && strings.Contains(west.peer().Message, "no answer")
	})
	time.Sleep(10 * time.Second)
	if n := strings.Count(west.sas(), ":"); n > 1 {
		t.Errorf("%d SAs with a peer that doesn't answer: %s", n, west.sas())
	}
	east.ns.IP(t, "link set net1 up")
	west.eventually("it is found when it returns", func() bool { return west.up() && east.up() && west.peer().Message == "" })

	west.conn.Lifetime = time.Hour
	west.swap()
	west.eventually("timers wait", func() bool { return west.up() && strings.Contains(west.peer().Message, "timers") })
}
