package agent

import (
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/agent/routing"
	"github.com/vpnctl/vpnctl/agent/volume"
	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/render/nat"
	"github.com/vpnctl/vpnctl/render/pod"
)

// globexGateway has a site with a host name as its endpoint, another with a preshared
// key, and an exposure of a host.
func globexGateway() vpn.Gateway {
	return vpn.Gateway{
		Protocol: vpn.WireGuard, WireGuard: &vpn.Interface{ListenPort: 51820, PrivateKey: vpn.SecretRef{Name: "dc1-wg-key", Key: "privateKey"}},
		Exposures: []vpn.Exposure{
			{Name: "db", Target: vpn.Target{Host: "db.internal"}},
			{Name: "web", Target: vpn.Target{Address: netip.MustParseAddr("10.20.0.5"), Protocol: "tcp", Ports: []vpn.PortRange{{From: 443, To: 443}}}},
		},
		Peers: []vpn.Peer{
			{Name: "berlin", PublicKey: publicKeys["p1"][0], Subnets: []netip.Prefix{netip.MustParsePrefix("172.20.1.0/24")}, Endpoint: "vpn.berlin.example:51820",
				Grants: &vpn.Grants{Exposures: []string{"db", "web"}}},
			{Name: "oslo", PublicKey: publicKeys["p2"][0], Subnets: []netip.Prefix{netip.MustParsePrefix("172.20.2.0/24")},
				PresharedKey: vpn.SecretRef{Name: "oslo-psk", Key: "psk"}, Grants: &vpn.Grants{Exposures: []string{"web"}}},
		},
	}
}

func globexOf(t *testing.T, g vpn.Gateway) world {
	w := renderWorld(t, g, map[string]byte{"db": 10, "web": 11}, nil)
	w.dns = map[string]netip.Addr{"db.internal": netip.MustParseAddr("10.30.0.1"), "vpn.berlin.example": netip.MustParseAddr("198.51.100.30")}
	return w
}

func globexWorld(t *testing.T) world { return globexOf(t, globexGateway()) }

// acmeWorld is an IPsec gateway with one peer, who reaches everything.
func acmeWorld(t *testing.T) world {
	return renderWorld(t, vpn.Gateway{
		Protocol: vpn.IPsec, IKE: &vpn.IKE{Proposals: []string{"aes256-sha256-ecp256"}, Lifetime: time.Hour, DPDDelay: time.Minute},
		Exposures: []vpn.Exposure{{Name: "web", Target: vpn.Target{Address: netip.MustParseAddr("10.20.0.5")}}},
		Peers: []vpn.Peer{{
			Name: "plant1", Address: netip.MustParseAddr("198.51.100.7"), ID: "plant1.example", Subnets: []netip.Prefix{netip.MustParsePrefix("192.168.10.0/24")},
			Selectors: vpn.PerSubnet, ESPProposals: []string{"aes256gcm16"}, ESPLifetime: time.Hour, PSK: vpn.SecretRef{Name: "psk", Key: "psk"},
		}},
	}, map[string]byte{"web": 10}, nil)
}

func TestDataplaneMakesItSo(t *testing.T) {
	t.Run("of WireGuard", func(t *testing.T) {
		s, w := newSite(t), globexWorld(t)
		s.write(w)
		s.keys(w)
		s.pass()
		s.pass()
		s.complains()
		s.reaches(w)
		addr := netip.MustParseAddr
		want := routing.Plan{
			NIC: "net1", Address: addr("10.254.0.17"), Subnet: netip.MustParsePrefix("10.254.0.0/24"), Gateway: addr("10.254.0.1"), Tunnel: "wg0", WireGuard: true,
		}
		if diff := cmp.Diff(want, s.kernel.plan, cmp.Comparer(func(a, b netip.Addr) bool { return a == b }), cmp.Comparer(func(a, b netip.Prefix) bool { return a == b })); diff != "" {
			t.Errorf("routing (-want +got)\n%s", diff)
		}
		if got := len(s.kernel.tunnel); got != 2 {
			t.Errorf("%d routes into the tunnel", got)
		}
		d := s.state()
		if d.Interface != "net1" || d.Ruleset != volume.Hash(w.rules[pod.KeyRules]) || d.Config != volume.Hash(w.config[pod.KeyWireGuard]) {
			t.Errorf("dataplane.json: %+v", d)
		}
		if d.WireGuard.PublicKey != "public of "+privateKey || len(d.WireGuard.Peers) != 2 || d.WireGuard.Peers[0].Endpoint != "198.51.100.30:51820" {
			t.Errorf("WireGuard: %+v", d.WireGuard)
		}
		if len(d.Hosts) != 1 || d.Hosts[0].Address != addr("10.30.0.1") || d.Hosts[0].Exposure != "db" {
			t.Errorf("hosts: %+v", d.Hosts)
		}
	})
	t.Run("of IPsec, whose tunnels are charon's", func(t *testing.T) {
		s, w := newSite(t), acmeWorld(t)
		s.write(w)
		s.pass()
		s.complains()
		if s.kernel.plan.Tunnel != "" || s.kernel.plan.Anchor.IsValid() || s.kernel.device != nil {
			t.Errorf("plan %+v, device %v", s.kernel.plan, s.kernel.device)
		}
		if !strings.Contains(s.kernel.ruleset, "192.168.10.0/24 . 100.64.3.10,") {
			t.Errorf("the grant isn't in force:\n%s", s.kernel.ruleset)
		}
	})
	t.Run("of IPsec in user space, with charon's interface and an address within its selectors", func(t *testing.T) {
		s, w := newSite(t), acmeWorld(t)
		w.config = expectation(t, w.config, func(e *vpn.Expectation) { e.Dataplane = vpn.DataplaneUserspace })
		s.write(w)
		s.pass()
		if s.kernel.plan.Tunnel != "ipsec0" || s.kernel.plan.Anchor != netip.MustParseAddr("100.64.3.1") {
			t.Errorf("plan %+v", s.kernel.plan)
		}
	})
}

// One pass is enough for a withdrawn grant to be closed and its connections ended, and
// they are looked for once more.
func TestDataplaneCutsAtOnce(t *testing.T) {
	s, w := newSite(t), globexWorld(t)
	s.write(w)
	s.keys(w)
	s.settle()
	cuts := s.kernel.cuts
	g := globexGateway()
	g.Peers[1].Grants = &vpn.Grants{}
	after := globexOf(t, g)
	s.swap("rules", after.rules)
	s.kernel.flows = 3
	s.pass()
	if strings.Contains(s.kernel.ruleset, "oslo, web") || s.state().FlowsCut != 3 || s.kernel.cuts != cuts+1 {
		t.Errorf("%d connections were ended in %d looks:\n%s", s.state().FlowsCut, s.kernel.cuts-cuts, s.kernel.ruleset)
	}
	s.settle()
	if got := s.kernel.cuts - cuts; got != 2 {
		t.Errorf("connections were looked through %d times", got)
	}
}

// Of two swaps within one look the last one counts, in whichever folder.
func TestDataplaneSwapStorm(t *testing.T) {
	s, w := newSite(t), globexWorld(t)
	s.keys(w)
	for i := range 30 {
		g := globexGateway()
		if i%2 == 0 {
			g.Peers = g.Peers[:1]
		}
		w = globexOf(t, g)
		s.write(w)
		if i%3 == 0 {
			s.pass()
			s.now = s.now.Add(200 * time.Millisecond)
		}
	}
	s.pass()
	s.reaches(w)
	s.complains()
}

// No peer is let in before a ruleset is in force.
func TestDataplaneWaitsForARuleset(t *testing.T) {
	s, w := newSite(t), globexWorld(t)
	s.dns = w.dns
	s.swap("config", w.config)
	s.keys(w)
	s.settle()
	if n := len(s.kernel.device.peers); n > 0 {
		t.Errorf("%d peers without a ruleset", n)
	}
	s.complains("ruleset: ")
	s.swap("rules", w.rules)
	s.pass()
	s.pass()
	s.complains()
	s.reaches(w)
}

func TestDataplaneKeysComeAndChange(t *testing.T) {
	s, w := newSite(t), globexWorld(t)
	s.write(w)
	s.settle()
	s.complains("keys: the private key was not handed over yet: Secret dc1-wg-key")
	_, err := s.loop.Volume.WriteKeys(volume.Keys{PrivateKey: []byte(privateKey)})
	s.must(err)
	s.settle()
	s.complains()
	if got := s.state().WireGuard.Peers[1]; !strings.Contains(got.Problem, "Secret oslo-psk") || len(s.kernel.device.peers) != 1 {
		t.Errorf("without its preshared key: %+v", got)
	}
	s.keys(w)
	s.now = s.now.Add(time.Second)
	s.pass()
	s.reaches(w)
	s.must(os.WriteFile(filepath.Join(s.dir, "run", "keys.json"), []byte("{"), 0o600))
	s.settle()
	s.complains("keys: ")
	s.reaches(w)
}

func TestDataplaneFollowsNames(t *testing.T) {
	s, w := newSite(t), globexWorld(t)
	s.write(w)
	s.keys(w)
	s.settle()
	s.dns["db.internal"], s.dns["vpn.berlin.example"] = netip.MustParseAddr("10.30.0.9"), netip.MustParseAddr("198.51.100.99")
	s.pass()
	if got := s.kernel.hosts[0].Target.String(); got != "10.30.0.9" {
		t.Errorf("the exposure leads to %s", got)
	}
	if got := s.kernel.device.peers[publicKeys["p1"][0]].Endpoint.String(); got != "198.51.100.99:51820" {
		t.Errorf("the endpoint is %s", got)
	}
	t.Run("an agent that starts anew doesn't begin without addresses", func(t *testing.T) {
		s.settle()
		clear(s.dns)
		s.start()
		s.kernel.after = func() {
			if !s.kernel.hosts[0].Target.IsValid() {
				t.Error("the exposure leads nowhere")
			}
		}
		s.pass()
		if s.kernel.count("apply") == 0 {
			t.Error("nothing was applied")
		}
	})
}

func TestDataplaneDeviceIsDeleted(t *testing.T) {
	s, w := newSite(t), globexWorld(t)
	s.write(w)
	s.keys(w)
	s.settle()
	s.kernel.device = nil
	s.settle()
	s.complains()
	s.reaches(w)
	t.Run("again and again, which is no hot loop", func(t *testing.T) {
		s.kernel.calls = nil
		s.kernel.after = func() { s.kernel.device = nil }
		for range 300 { // a minute
			s.pass()
			s.now = s.now.Add(200 * time.Millisecond)
		}
		if n := s.kernel.count("open"); n > 20 {
			t.Errorf("it was opened %d times in a minute", n)
		}
	})
}

// A pass that finds nothing new touches nothing, but for a look now and then.
func TestDataplaneAtRest(t *testing.T) {
	s, w := newSite(t), globexWorld(t)
	s.write(w)
	s.keys(w)
	s.settle()
	s.kernel.calls = nil
	writes := 0
	last := s.state().Written
	for range 300 { // a minute
		s.pass()
		s.now = s.now.Add(200 * time.Millisecond)
		if at := s.state().Written; !at.Equal(last) {
			writes, last = writes+1, at
		}
	}
	slices.Sort(s.kernel.calls)
	for _, call := range slices.Compact(slices.Clone(s.kernel.calls)) {
		if n := s.kernel.count(call); n > 8 && (call != "intact" || n > 61) {
			t.Errorf("%s was called %d times in a minute", call, n)
		}
	}
	if writes < 10 || writes > 40 {
		t.Errorf("dataplane.json was written %d times in a minute", writes)
	}
}

func TestDataplaneProbes(t *testing.T) {
	s, w := newSite(t), globexWorld(t)
	ask := func(path string) string {
		answer := httptest.NewRecorder()
		s.loop.Handler().ServeHTTP(answer, httptest.NewRequest(http.MethodGet, path, nil))
		if answer.Code == http.StatusOK {
			return "ok"
		}
		return strings.TrimSpace(answer.Body.String())
	}
	expect := func(path, want string) {
		t.Helper()
		if got := ask(path); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	expect("/readyz", "agent.json in ")
	s.swap("config", w.config)
	s.keys(w)
	s.pass()
	expect("/readyz", "no ruleset is in force")
	s.kernel.nics = nil
	s.swap("rules", w.rules)
	s.settle()
	expect("/readyz", "the port's interface is missing")
	s.kernel.nics, s.kernel.fail["route"] = map[string]string{portMAC: "net1"}, errors.New("broken")
	s.settle()
	expect("/readyz", "policy routing is not in place")
	clear(s.kernel.fail)
	s.settle()
	expect("/readyz", "ok")
	s.kernel.device, s.kernel.fail["open"] = nil, errors.New("broken")
	s.settle()
	expect("/readyz", "the WireGuard device is not up")
	expect("/healthz", "ok")
	s.now = s.now.Add(2 * time.Minute)
	expect("/healthz", "the loop has shown no sign of life")
	s.pass()
	expect("/healthz", "ok")
}

// No key is anywhere but in keys.json.
func TestDataplaneKeepsSecrets(t *testing.T) {
	s, w := newSite(t), globexWorld(t)
	s.write(w)
	s.keys(w)
	s.kernel.fail["peers"] = errors.New("broken")
	s.settle()
	clear(s.kernel.fail)
	s.settle()
	s.must(filepath.WalkDir(filepath.Join(s.dir, "run"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == "keys.json" {
			return err
		}
		data, err := os.ReadFile(path)
		for _, secret := range []string{"preshared of oslo"} {
			if strings.Contains(string(data), secret) {
				t.Errorf("%s holds a key", d.Name())
			}
		}
		return err
	}))
	if strings.Contains(s.log.String(), "preshared of oslo") || strings.Contains(s.log.String(), privateKey) {
		t.Error("the log holds a key")
	}
}

func TestAgreedKeepsWhatBothFilesHave(t *testing.T) {
	for sentence, w := range map[string]world{"WireGuard": globexWorld(t), "IPsec": acmeWorld(t)} {
		table, err := nat.Parse(w.rules[pod.KeyRules])
		if err != nil {
			t.Fatal(err)
		}
		e, err := vpn.ParseExpectation(w.config[pod.KeyAgent])
		if err != nil {
			t.Fatal(err)
		}
		got, held := agreed(table, e, func(netip.Prefix) string { return "" })
		text, err := got.Text()
		if err != nil || held != 0 || text != w.rules[pod.KeyRules] {
			t.Errorf("%s: %d held, %v", sentence, held, err)
		}
		none, held := agreed(table, vpn.Expectation{}, func(netip.Prefix) string { return "" })
		if held == 0 {
			t.Errorf("%s: without agent.json, nothing is held", sentence)
		}
		for _, name := range []string{"grants", "grants_any", "open", "reverse_grants", "reverse_grants_any", "reverse_open"} {
			if set, declared := none.Set(name); !declared || len(set.Elements) > 0 {
				t.Errorf("%s: without agent.json, %s are %v", sentence, name, set.Elements)
			}
		}
	}
}
