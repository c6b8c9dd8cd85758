package agent

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"log/slog"
	"maps"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/vpnctl/vpnctl/agent/lab/configmap"
	"github.com/vpnctl/vpnctl/agent/volume"
	"github.com/vpnctl/vpnctl/plan/alloc"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/render"
	"github.com/vpnctl/vpnctl/render/pod"
)

// site is a dataplane loop over real folders and a fake kernel, whose time passes as
// the test says.
type site struct {
	base
	dir    string
	loop   *DataplaneLoop
	kernel *fakeKernel
	dns    map[string]netip.Addr
	log    bytes.Buffer
	now    time.Time
}

func newSite(t testing.TB) *site {
	t.Helper()
	s := &site{base: base{t}, kernel: newFakeKernel(), now: time.Date(2026, 11, 30, 1, 0, 0, 0, time.UTC), dns: map[string]netip.Addr{}}
	s.dir = s.folders("config", "rules", "run")
	s.start()
	return s
}

// start makes a new process over the same folders and the same kernel, and never asks
// the one before.
func (s *site) start() {
	s.kernel.newProcess()
	s.loop = s.process()
	s.loop.prepare()
}

// process is a loop that hasn't begun.
func (s *site) process() *DataplaneLoop {
	l := NewDataplaneLoop(filepath.Join(s.dir, "config"), filepath.Join(s.dir, "rules"), filepath.Join(s.dir, "run"))
	l.Network, l.Firewall, l.Open = s.kernel, &fakeFirewall{kernel: s.kernel}, s.kernel.open
	l.Now, l.Log = func() time.Time { return s.now }, slog.New(slog.NewTextHandler(&s.log, nil))
	return l
}

// swap puts another generation of a mounted folder in force, as the kubelet does.
func (s *site) swap(folder string, data map[string]string) {
	s.Helper()
	s.must(configmap.Swap(filepath.Join(s.dir, folder), data))
}

// write puts both files of a state in force, and what its names stand for.
func (s *site) write(w world) {
	s.Helper()
	s.swap("config", w.config)
	s.swap("rules", w.rules)
	maps.Copy(s.dns, w.dns)
}

// keys hands keys over, as the status half does.
func (s *site) keys(w world) {
	s.Helper()
	_, err := s.loop.Volume.WriteKeys(w.keys)
	s.must(err)
}

// pass makes one pass, after the names were looked up.
func (s *site) pass() {
	n := s.loop.names
	n.mu.Lock()
	for host, name := range n.known {
		if addr, there := s.dns[host]; there && n.shown[host].Address != addr {
			name.Address = addr
			n.shown[host] = *name
			n.moves++
		}
	}
	n.mu.Unlock()
	s.loop.pass(context.Background())
}

// settle lets time pass until nothing is left to be done: a minute and a half.
func (s *site) settle() {
	for i := range 12 {
		s.pass()
		s.now = s.now.Add(time.Duration(i+1) * time.Second)
	}
}

// state is dataplane.json.
func (s *site) state() volume.Dataplane {
	s.Helper()
	d, found, err := s.loop.Volume.ReadDataplane()
	s.must(err)
	if !found {
		s.Fatal("there is no dataplane.json")
	}
	return d
}

// complaints are the problems, without their times.
func (s *site) complaints() []string {
	s.Helper()
	var all []string
	for _, p := range s.state().Problems {
		all = append(all, p.Part+": "+p.Text)
	}
	return all
}

// complains wants exactly the problems that begin like this.
func (s *site) complains(want ...string) {
	s.Helper()
	got := s.complaints()
	ok := len(got) == len(want)
	for i := range min(len(got), len(want)) {
		ok = ok && strings.HasPrefix(got[i], want[i])
	}
	if !ok {
		s.Errorf("problems %q, want %q", got, want)
	}
}

// reaches wants the kernel to be what a state says, whoever was in force before.
func (s *site) reaches(w world) {
	s.Helper()
	if diff := cmp.Diff(w.reach(s.TB), s.kernel.reach(w.names)); diff != "" {
		s.Errorf("who reaches what (-files +kernel)\n%s", diff)
	}
}

// world is a gateway as render writes it.
type world struct {
	config, rules map[string]string
	keys          volume.Keys
	dns           map[string]netip.Addr
	names         map[string]string // peers by public key
}

// reach is who reaches what once all of it is in force.
func (w world) reach(t testing.TB) []string {
	s := newSite(t)
	s.write(w)
	s.keys(w)
	s.pass()
	s.pass()
	return s.kernel.reach(w.names)
}

// render writes a gateway's ConfigMaps with the code that does it for real.
func renderWorld(t testing.TB, g vpn.Gateway, vips, addresses map[string]byte) world {
	t.Helper()
	owner := vpn.Owner{Kind: vpn.KindVPNGateway, Namespace: "acme", Name: "dc1"}
	g.Owner = owner
	slices.SortFunc(g.Peers, func(a, b vpn.Peer) int { return strings.Compare(a.Name, b.Name) })
	w := world{keys: volume.Keys{PrivateKey: []byte(privateKey), Preshared: map[string][]byte{}}, dns: map[string]netip.Addr{}, names: map[string]string{}}
	var peers []string
	for _, p := range g.Peers {
		peers = append(peers, p.Name)
		w.names[p.PublicKey] = p.Name
		if p.PresharedKey.Name != "" {
			w.keys.Preshared[p.Name] = []byte("preshared of " + p.Name)
		}
	}
	graph, problems := render.Gateway(render.Input{
		Estate: vpn.Estate{
			Name: "prod", OpenStack: vpn.OpenStack{Network: "transit", Router: "router", FloatingIPPool: "public"},
			Kubernetes:      vpn.Kubernetes{Target: vpn.TargetDirectory, Directory: "deploy"},
			ServiceCIDRPool: netip.MustParsePrefix("100.64.0.0/16"), InternalSourceCIDRs: []netip.Prefix{netip.MustParsePrefix("10.254.0.0/24")},
			Pod: vpn.Pod{MaxGatewaysPerNode: 20, IPsecDataplane: vpn.DataplaneKernel},
		},
		Gateway: g,
		Ledger: alloc.Ledger{
			Estate: "prod", Owner: owner, Protocol: g.Protocol, ServiceCIDR: netip.MustParsePrefix("100.64.3.0/24"),
			VirtualIPs: vips, Addresses: addresses, Peers: peers, Grants: true,
		},
		Node: resource.Node{Name: "worker-1", ServerID: "33333333-3333-3333-3333-333333333333", Ready: true},
		Facts: resource.Facts{
			NetworkID: "n", RouterID: "r", Subnet: netip.MustParsePrefix("10.254.0.0/24"), SubnetGateway: netip.MustParseAddr("10.254.0.1"),
			Gateways: map[string]resource.GatewayFacts{owner.String(): {
				FloatingIP: netip.MustParseAddr("203.0.113.20"), PortID: "p", PortAddress: netip.MustParseAddr("10.254.0.17"), MAC: portMAC,
			}},
		},
	})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	for _, r := range graph {
		if r.Object == nil || r.Object.Kind != "ConfigMap" {
			continue
		}
		var m struct{ Data map[string]string }
		if err := yaml.Unmarshal([]byte(r.Object.Content), &m); err != nil {
			t.Fatal(err)
		}
		if m.Data[pod.KeyRules] != "" {
			w.rules = m.Data
		} else {
			w.config = m.Data
		}
	}
	if w.rules == nil || w.config == nil {
		t.Fatal("a ConfigMap is missing")
	}
	return w
}

const (
	portMAC    = "fa:16:3e:00:00:17"
	privateKey = "the private key"
)

// with replaces keys of a mounted folder's data.
func with(data map[string]string, key, text string) map[string]string {
	data = maps.Clone(data)
	data[key] = text
	return data
}

// expectation changes agent.json.
func expectation(t *testing.T, data map[string]string, f func(*vpn.Expectation)) map[string]string {
	t.Helper()
	e, err := vpn.ParseExpectation(data[pod.KeyAgent])
	if err != nil {
		t.Fatal(err)
	}
	f(&e)
	text, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	return with(data, pod.KeyAgent, string(text))
}

// newKey makes a key as wg(8) does.
func newKey() []byte {
	key := make([]byte, 32)
	rand.Read(key)
	return []byte(base64.StdEncoding.EncodeToString(key))
}
