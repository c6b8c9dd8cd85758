package agent

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/vpnctl/vpnctl/agent/firewall"
	"github.com/vpnctl/vpnctl/agent/routing"
	"github.com/vpnctl/vpnctl/agent/wireguard"
	"github.com/vpnctl/vpnctl/render/nat"
)

// fakeKernel is what stays when an agent ends: interfaces, routing, the ruleset and the
// WireGuard device. Each call can be made to fail, or to kill the agent.
type fakeKernel struct {
	nics    map[string]string // by MAC
	sysctls []string          // problems
	plan    routing.Plan
	tunnel  []netip.Prefix

	ruleset string
	hosts   []firewall.Host
	cuts    int // how often connections were looked through
	flows   int // that the next cut finds

	device    *fakeState // nil: there is none
	userspace bool

	fail   map[string]error // by the name of a call
	calls  []string         // of this process
	killed int              // at which call the process is killed; 0: never
	after  func()           // once a call has changed something
}

type fakeState struct {
	private string
	peers   map[string]wireguard.Peer // by public key
	sent    uint64
}

// errKilled is what a killed process panics with.
var errKilled = errors.New("killed")

func newFakeKernel() *fakeKernel {
	return &fakeKernel{nics: map[string]string{portMAC: "net1"}, fail: map[string]error{}}
}

func (k *fakeKernel) newProcess() {
	k.calls = nil
	if k.userspace {
		k.device = nil
	}
}

// call notes a call, before it does anything.
func (k *fakeKernel) call(name string) error {
	k.calls = append(k.calls, name)
	if len(k.calls) == k.killed {
		panic(errKilled)
	}
	return k.fail[name]
}

func (k *fakeKernel) changed() {
	if k.after != nil {
		k.after()
	}
}

// count is how often a call was made.
func (k *fakeKernel) count(name string) int {
	n := 0
	for _, c := range k.calls {
		if c == name {
			n++
		}
	}
	return n
}

func (k *fakeKernel) Find(mac string) (string, bool, error) {
	if err := k.fail["find"]; err != nil {
		return "", false, err
	}
	name, found := k.nics[mac]
	return name, found, nil
}

func (k *fakeKernel) Sysctls(string, string) []string { return k.sysctls }

func (k *fakeKernel) Route(p routing.Plan) error {
	if err := k.call("route"); err != nil {
		return err
	}
	k.plan = p
	return nil
}

func (k *fakeKernel) RouteTunnel(_ string, peers []netip.Prefix) error {
	if err := k.call("tunnel"); err != nil {
		return err
	}
	k.tunnel = peers
	return nil
}

// fakeFirewall is one process's view of the kernel's ruleset.
type fakeFirewall struct {
	kernel  *fakeKernel
	applied string
}

func (f *fakeFirewall) Apply(_ context.Context, ruleset string, hosts []firewall.Host) (bool, error) {
	text := ruleset + fmt.Sprint(hosts)
	if text == f.applied {
		return false, nil
	}
	if err := f.kernel.call("apply"); err != nil {
		return false, err
	}
	if strings.Contains(ruleset, refused) {
		return false, errors.New("nft: syntax error")
	}
	f.applied = text
	f.kernel.ruleset, f.kernel.hosts = ruleset, slices.Clone(hosts)
	f.kernel.changed()
	return true, nil
}

// refused is in a ruleset that nft doesn't take.
const refused = "no_such_keyword"

func (f *fakeFirewall) Intact(context.Context) (bool, error) {
	if err := f.kernel.call("intact"); err != nil {
		return false, err
	}
	if f.kernel.ruleset+fmt.Sprint(f.kernel.hosts) != f.applied {
		f.applied = ""
	}
	return f.applied != "", nil
}

func (f *fakeFirewall) Cut(t nat.Table, _ []firewall.Host) (int, error) {
	if err := f.kernel.call("cut"); err != nil {
		return 0, err
	}
	f.kernel.cuts++
	n := f.kernel.flows
	f.kernel.flows = 0
	return n, nil
}

func (k *fakeKernel) open(string, string) (Device, error) {
	if err := k.call("open"); err != nil {
		return nil, err
	}
	if k.device == nil {
		k.device = &fakeState{peers: map[string]wireguard.Peer{}}
	}
	return &fakeDevice{kernel: k, state: k.device, names: map[string]string{}}, nil
}

// fakeDevice is one process's handle of the device.
type fakeDevice struct {
	kernel *fakeKernel
	state  *fakeState
	names  map[string]string // what this process has applied
}

func (d *fakeDevice) Userspace() bool { return d.kernel.userspace }

func (d *fakeDevice) gone() error {
	if d.kernel.device != d.state {
		return wireguard.ErrGone
	}
	return nil
}

func (d *fakeDevice) Apply(c wireguard.Config) (wireguard.Change, error) {
	if err := errors.Join(d.kernel.call("peers"), d.gone()); err != nil {
		return wireguard.Change{}, err
	}
	change := wireguard.Change{Problems: map[string]string{}}
	wanted := map[string]wireguard.Peer{}
	for _, p := range c.Peers {
		if p.Missing != "" {
			change.Problems[p.Name] = p.Missing
			continue
		}
		if !p.Endpoint.IsValid() { // as the device has it, or where it was last
			p.Endpoint = c.Seen[p.Name]
			if old, there := d.state.peers[p.PublicKey]; there {
				p.Endpoint = old.Endpoint
			}
		}
		wanted[p.PublicKey] = p
		d.names[p.PublicKey] = p.Name
	}
	for key := range d.state.peers {
		if _, there := wanted[key]; !there {
			change.Removed = append(change.Removed, key)
		}
	}
	for key, p := range wanted {
		if fmt.Sprint(d.state.peers[key]) != fmt.Sprint(p) {
			change.Added = append(change.Added, p.Name)
		}
	}
	d.state.peers = wanted
	d.kernel.changed()
	if len(c.PrivateKey) == 0 {
		return change, fmt.Errorf("private key: %w", wireguard.ErrNoKey)
	}
	d.state.private = string(c.PrivateKey)
	return change, nil
}

func (d *fakeDevice) Read() (wireguard.State, error) {
	if err := errors.Join(d.kernel.fail["read"], d.gone()); err != nil {
		return wireguard.State{}, err
	}
	s := wireguard.State{PublicKey: "public of " + d.state.private}
	for key, p := range d.state.peers {
		s.Peers = append(s.Peers, wireguard.PeerState{
			Name: d.names[key], PublicKey: key, AllowedIPs: p.AllowedIPs, Endpoint: p.Endpoint,
			Handshake: time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC), Sent: d.state.sent,
		})
	}
	return s, nil
}

func (d *fakeDevice) Close() error {
	d.kernel.calls = append(d.kernel.calls, "close")
	return nil
}

// reach lists who reaches what through the kernel as it is: peers by what the device
// takes from them, targets by what the ruleset makes of virtual IPs.
func (k *fakeKernel) reach(names map[string]string) []string {
	var all []string
	if k.ruleset == "" {
		return nil
	}
	table, err := nat.Parse(k.ruleset)
	if err != nil {
		panic(err)
	}
	targets := map[string][]string{} // virtual IP → address, and protocol and port
	for _, name := range []string{"targets", "targets_any"} {
		set, _ := table.Set(name)
		for _, e := range set.Elements {
			key, to, _ := strings.Cut(e.Text, " : ")
			virtual, service, _ := strings.Cut(key, " . ")
			targets[virtual] = append(targets[virtual], to+" "+service)
		}
	}
	for _, h := range k.hosts {
		if _, declared := table.Set(h.Map); declared && h.Target.IsValid() {
			targets[h.VirtualIP.String()] = append(targets[h.VirtualIP.String()], h.Target.String()+" any port")
		}
	}
	for _, name := range []string{"grants", "grants_any"} {
		set, _ := table.Set(name)
		for _, e := range set.Elements {
			key := strings.Split(e.Text, " . ")
			for _, to := range targets[key[1]] {
				all = append(all, k.from(netip.MustParsePrefix(key[0]), names)+" → "+to+" by "+strings.Join(key[2:], " "))
			}
		}
	}
	for _, name := range []string{"reverse_grants", "reverse_grants_any"} {
		set, _ := table.Set(name)
		for _, e := range set.Elements {
			to := table.Targets()[e.Note].Address
			all = append(all, k.behind(to, names)+" is reached at "+to.String()+" by "+e.Text)
		}
	}
	all = slices.DeleteFunc(all, func(s string) bool { return strings.HasPrefix(s, "nobody ") })
	slices.Sort(all)
	return slices.Compact(all)
}

// behind is the peer that packets for an address go to; "nobody": none.
func (k *fakeKernel) behind(to netip.Addr, names map[string]string) string {
	if k.device != nil {
		for key, p := range k.device.peers {
			if slices.ContainsFunc(p.AllowedIPs, func(n netip.Prefix) bool { return n.Contains(to) }) {
				return names[key]
			}
		}
	}
	return "nobody"
}

// from is the peer whose packets bear a source; "nobody": the device lets it from none.
func (k *fakeKernel) from(source netip.Prefix, names map[string]string) string {
	if k.device != nil {
		for key, p := range k.device.peers {
			if slices.Contains(p.AllowedIPs, source) {
				return names[key]
			}
		}
	}
	return "nobody"
}
