package agent

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vpnctl/vpnctl/agent/resolve"
	"github.com/vpnctl/vpnctl/agent/routing"
	"github.com/vpnctl/vpnctl/agent/volume"
	"github.com/vpnctl/vpnctl/agent/wireguard"
	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/render/pod"
)

// The loop as it runs in a pod, in real time: a swap counts within a second, nobody
// waits for name servers that don't answer, and the end takes nothing back.
func TestDataplaneRuns(t *testing.T) {
	s, w := newSite(t), globexWorld(t)
	s.write(w)
	s.keys(w)
	conf := filepath.Join(s.dir, "resolv.conf")
	s.must(os.WriteFile(conf, []byte("nameserver 192.0.2.1\noptions timeout:5\n"), 0o644))
	s.loop = NewDataplaneLoop(filepath.Join(s.dir, "config"), filepath.Join(s.dir, "rules"), filepath.Join(s.dir, "run"))
	s.loop.Network, s.loop.Firewall, s.loop.Open = s.kernel, &fakeFirewall{kernel: s.kernel}, s.kernel.open
	s.loop.Lookup = resolve.Resolver{Config: conf, Timeout: 5 * time.Second}
	probes := httptest.NewServer(s.loop.Handler())
	defer probes.Close()

	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- s.loop.Run(ctx) }()
	await := func(hash string) {
		t.Helper()
		for end := time.Now().Add(10 * time.Second); s.state().Ruleset != hash; time.Sleep(5 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("dataplane.json: %+v", s.state())
			}
		}
	}
	await(volume.Hash(w.rules[pod.KeyRules]))
	g := globexGateway()
	g.Peers[1].Grants = &vpn.Grants{}
	after := globexOf(t, g)
	began := time.Now()
	s.swap("rules", w.rules)
	s.swap("rules", after.rules)
	await(volume.Hash(after.rules[pod.KeyRules]))
	t.Logf("a swap counted after %s", time.Since(began).Round(time.Millisecond))

	answer, err := http.Get(probes.URL + "/readyz")
	s.must(err)
	body, err := io.ReadAll(answer.Body)
	s.must(err)
	if answer.StatusCode != http.StatusOK {
		t.Errorf("readyz: %s", body)
	}
	cancel()
	select {
	case err := <-ended:
		s.must(err)
	case <-time.After(5 * time.Second):
		t.Fatal("it doesn't end")
	}
	if strings.Contains(s.kernel.ruleset, "oslo, web") || len(s.kernel.device.peers) != 2 || s.kernel.plan.NIC == "" || s.kernel.count("close") != 1 {
		t.Errorf("what it left: %+v", s.kernel)
	}
}

// The device's own packets bear the mark that policy routing sends out by the port.
func TestDeviceAndRoutingAgreeOnTheMark(t *testing.T) {
	if wireguard.FirewallMark != routing.Mark {
		t.Errorf("the device's packets bear %d, routing looks for %d", wireguard.FirewallMark, routing.Mark)
	}
}
