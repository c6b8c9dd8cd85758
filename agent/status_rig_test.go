package agent

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vpnctl/vpnctl/agent/lab/configmap"
	"github.com/vpnctl/vpnctl/agent/report"
	"github.com/vpnctl/vpnctl/agent/vici/fakecharon"
	"github.com/vpnctl/vpnctl/agent/volume"
	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/render/pod"
	"github.com/vpnctl/vpnctl/render/swanctl"
)

// rig is a status loop between a fake charon and folders, whose time passes as the
// test says.
type rig struct {
	base
	loop   *StatusLoop
	charon *fakecharon.Charon
	files  report.Folder // Secrets, and status.json as the API has it
	log    *bytes.Buffer
	now    time.Time

	expect vpn.Expectation
	config swanctl.Config
}

func newRig(t testing.TB) *rig {
	t.Helper()
	dir := base{t}.folders("api", "run", "config")
	r := &rig{
		base: base{t}, log: &bytes.Buffer{}, now: time.Date(2026, 11, 30, 1, 0, 0, 0, time.UTC),
		files: report.Files(filepath.Join(dir, "api")), charon: fakecharon.New(filepath.Join(dir, "run", "charon.vici")),
		expect: vpn.Expectation{
			Estate: "prod", Gateway: vpn.Owner{Kind: vpn.KindVPNGateway, Namespace: "acme", Name: "dc1"}, Protocol: vpn.IPsec,
		},
	}
	r.must(r.charon.Start())
	t.Cleanup(r.charon.Kill)
	r.restart()
	r.ruleset("abc")
	return r
}

// restart makes a new agent over the same folders and the same charon.
func (r *rig) restart() {
	dir := filepath.Dir(r.files.Dir)
	if r.loop != nil {
		r.loop.charon.hangUp()
	}
	r.loop = NewStatusLoop(filepath.Join(dir, "config"), filepath.Join(dir, "run"), r.files, r.files)
	r.loop.Socket = filepath.Join(dir, "run", "charon.vici")
	r.loop.Now = func() time.Time { return r.now }
	r.loop.Log = slog.New(slog.NewTextHandler(r.log, nil))
	r.loop.Call = 10 * time.Second
	r.loop.Version, r.loop.Place = "v1", "" // whatever is written by hand is of this pod
	r.loop.prepare()
	r.Cleanup(r.loop.charon.hangUp)
}

// ruleset is what the other half publishes.
func (r *rig) ruleset(hash string) {
	r.must(r.loop.Volume.WriteDataplane(volume.Dataplane{Written: r.now, Ruleset: hash, RulesetSince: r.now}))
}

// secret puts a peer's key there, or takes it away.
func (r *rig) secret(peer string, data []byte) {
	dir := filepath.Join(r.files.Dir, peer)
	if data == nil {
		r.must(os.RemoveAll(dir))
		return
	}
	r.must(os.MkdirAll(dir, 0o755))
	r.must(os.WriteFile(filepath.Join(dir, "psk"), data, 0o600))
}

// peer adds a peer with two children, and its key.
func (r *rig) peer(names ...string) {
	for _, name := range names {
		i := len(r.config.Connections)
		conn := connection(name, i)
		r.config.Connections = append(r.config.Connections, conn)
		r.expect.Peers = append(r.expect.Peers, vpn.ExpectedPeer{
			Name: name, ID: conn.RemoteID, PresharedKey: vpn.SecretRef{Name: name, Key: "psk"},
			Children: []string{conn.Children[0].Name, conn.Children[1].Name}, Access: vpn.Access{Exposures: []string{"db"}},
		})
		r.secret(name, secretOf(name))
	}
	r.swap()
}

// drop takes a peer off the file.
func (r *rig) drop(name string) {
	r.config.Connections = slices.DeleteFunc(r.config.Connections, func(c swanctl.Connection) bool { return c.Name == name })
	r.expect.Peers = slices.DeleteFunc(r.expect.Peers, func(p vpn.ExpectedPeer) bool { return p.Name == name })
	r.swap()
}

// edit changes a connection in the file.
func (r *rig) edit(name string, f func(*swanctl.Connection)) {
	for i := range r.config.Connections {
		if c := &r.config.Connections[i]; c.Name == name {
			c.Children = slices.Clone(c.Children)
			f(c)
			var children []string
			for _, child := range c.Children {
				children = append(children, child.Name)
			}
			r.expect.Peers[i].Children, r.expect.Peers[i].ID = children, c.RemoteID
		}
	}
	r.swap()
}

func secretOf(peer string) []byte { return []byte("s3cret of " + peer + "\n") }

func connection(name string, i int) swanctl.Connection {
	child := func(k int) swanctl.Child {
		subnet := netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(i >> 7), byte(i<<1 + k), 0}), 24)
		return swanctl.Child{
			Name: swanctl.ChildName(name, subnet), Local: netip.MustParsePrefix("100.64.3.0/24"), Remote: []netip.Prefix{subnet},
			Proposals: []string{"aes256gcm16"}, Lifetime: time.Hour,
		}
	}
	return swanctl.Connection{
		Name: name, LocalID: "203.0.113.20", Address: netip.AddrFrom4([4]byte{198, 51, byte(i >> 8), byte(i)}), RemoteID: name + "@example.org",
		Proposals: []string{"aes256-sha256-ecp256"}, Lifetime: 4 * time.Hour, DPDDelay: 30 * time.Second, DPDTimeout: 150 * time.Second,
		Children: []swanctl.Child{child(0), child(1)},
	}
}

// swap mounts the present configuration as a new generation, as the kubelet does.
func (r *rig) swap() {
	expect, err := r.expect.Text()
	r.must(err)
	conf, err := r.config.Text()
	r.must(err)
	r.mount(map[string]string{pod.KeyAgent: expect, pod.KeySwanctl: conf})
}

func (r *rig) mount(files map[string]string) {
	r.must(configmap.Swap(r.loop.Config.Dir, files))
}

// tick lets the loop work once, reads the Secrets that are due then, and lets time pass.
func (r *rig) tick() {
	r.Helper()
	r.loop.tick(r.Context())
	r.asks()
	r.now = r.now.Add(5 * time.Second)
}

func (r *rig) asks() {
	for {
		ref, wait := r.loop.vault.next()
		if wait > 0 {
			return
		}
		r.loop.vault.ask(r.Context(), ref)
	}
}

func (r *rig) ticks(n int) {
	r.Helper()
	for range n {
		r.tick()
	}
}

// settled lets everything come up.
func (r *rig) settled() {
	r.Helper()
	r.ticks(5)
	for _, p := range r.reported() {
		if p.State != "ESTABLISHED" || p.Up != p.Expected {
			r.Fatalf("%s is %s, %d of %d, %s", p.Name, p.State, p.Up, p.Expected, p.Message)
		}
	}
}

// reported is what the sink was told last.
func (r *rig) reported() []report.Peer {
	var all []report.Peer
	for _, v := range r.loop.shown.Load().peers {
		all = append(all, v.Peer)
	}
	return all
}

func (r *rig) reportedOf(name string) report.Peer {
	r.Helper()
	for _, p := range r.reported() {
		if p.Name == name {
			return p
		}
	}
	r.Fatalf("nothing is reported of %s", name)
	return report.Peer{}
}

// says fails unless the peer is in that state, with that number of tunnels up, and its
// message has these words.
func (r *rig) says(name, state string, up int, words string) {
	r.Helper()
	p := r.reportedOf(name)
	if p.State != state || p.Up != up || !strings.Contains(p.Message, words) || words == "" && p.Message != "" {
		r.Errorf("%s is %s, %d of %d: %q; want %s, %d, %q", name, p.State, p.Up, p.Expected, p.Message, state, up, words)
	}
}

// ids are the IDs of a connection's IKE SAs and children, in charon's order.
func (r *rig) ids(name string) string {
	var all []string
	for _, sa := range r.charon.SAs() {
		if sa.Connection != name {
			continue
		}
		text := fmt.Sprint(sa.ID, ":")
		for _, c := range sa.Children {
			text += fmt.Sprint(" ", c.Name, "#", c.ID)
		}
		all = append(all, text)
	}
	return strings.Join(all, "; ")
}
