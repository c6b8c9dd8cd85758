package agent

import (
	"errors"
	"io"
	"maps"
	"net"
	"net/netip"
	"time"

	"github.com/vpnctl/vpnctl/agent/volume"
	"github.com/vpnctl/vpnctl/agent/wireguard"
)

// Device is a WireGuard device.
type Device interface {
	// Userspace tells whether it lives in this process.
	Userspace() bool
	// Apply changes what differs and nothing else.
	Apply(wireguard.Config) (wireguard.Change, error)
	// Read returns the device as it is.
	Read() (wireguard.State, error)
	// Close lets go of it.
	io.Closer
}

// tunnel is the WireGuard device and what is known of it.
type tunnel struct {
	device      Device // nil: it isn't open
	config      wireguard.Config
	state       wireguard.State
	problems    map[string]string       // by peer
	holders     map[netip.Prefix]string // peers by what the device has; "?" where nobody knows the key
	before      *volume.WireGuard       // as an earlier agent published it
	applied     bool                    // config was, whole or in part
	totals      *wireguard.Totals
	keysProblem string
	read        time.Time
	losses      int // in a row: a device that somebody keeps deleting is no hot loop
}

// unknownHolder stands for a peer of the device that the files don't know.
const unknownHolder = "?"

// openDevice finds or makes the device. It has no peers then, or those that an earlier
// agent gave it.
func (l *DataplaneLoop) openDevice() {
	t := &l.tunnel
	if !l.files.wireguard() || t.device != nil {
		return
	}
	dataplane := l.files.expect.Dataplane
	l.attempt(&l.tasks.open, dataplane, func() []string {
		device, err := l.Open(l.files.port.Tunnel, dataplane)
		if err != nil {
			return texts(err)
		}
		t.device = device
		if problems := l.see(); problems != nil { // whose addresses it has must be known
			if t.device != nil {
				t.device = nil
				problems = append(problems, texts(device.Close())...)
			}
			return problems
		}
		if t.totals == nil {
			t.totals = wireguard.NewTotals(t.before, device.Userspace())
		}
		l.at.device++
		l.tasks.peers.again()
		l.Log.Info("WireGuard device open", "name", l.files.port.Tunnel, "userspace", device.Userspace())
		return nil
	})
}

// setPeers makes the device what the files and the keys say. It waits for a ruleset:
// until one is in force, a peer could reach whatever the pod can.
func (l *DataplaneLoop) setPeers() {
	t := &l.tunnel
	if t.device == nil || !l.ruleset.inForce {
		return
	}
	type input struct{ files, keys, names, device int }
	ran := l.attempt(&l.tasks.peers, input{l.at.files, l.at.keys, l.at.names, l.at.device}, l.applyPeers)
	if ran && l.tasks.peers.failures == 1 {
		l.state.ReloadErrors++
	}
	if t.device != nil {
		l.routeTunnel()
	}
}

func (l *DataplaneLoop) applyPeers() []string {
	t := &l.tunnel
	config := wireguard.Of(l.files.device, l.files.expect, l.keys, l.names.address)
	config.Seen = wireguard.LastSeen(t.before)
	change, err := t.device.Apply(config)
	if errors.Is(err, wireguard.ErrGone) {
		return l.gone(err)
	}
	t.config, t.problems, t.applied = config, change.Problems, true
	if !change.Empty() {
		l.Log.Info("WireGuard device changed", "settings", change.Device,
			"added", change.Added, "changed", change.Changed, "removed", change.Removed)
	}
	if err == nil {
		l.state.Config = volume.Hash(l.files.texts.WireGuard)
	}
	if seen := l.see(); seen != nil {
		return seen
	}
	if errors.Unwrap(err) == wireguard.ErrNoKey && t.keysProblem != "" {
		return nil // what is missing is said there, and its coming is noticed
	}
	return texts(err)
}

// readDevice reads counters and handshakes.
func (l *DataplaneLoop) readDevice() {
	t := &l.tunnel
	if t.device == nil || l.Now().Before(t.read.Add(l.Read)) {
		return
	}
	l.attempt(&l.tasks.read, t.read, l.see)
	if l.tasks.read.well() {
		t.losses = 0
	}
}

// see reads the device, and whose addresses it has.
func (l *DataplaneLoop) see() []string {
	t := &l.tunnel
	t.read = l.Now()
	state, err := t.device.Read()
	if errors.Is(err, wireguard.ErrGone) {
		return l.gone(err)
	}
	if err != nil {
		return texts(err)
	}
	t.state, l.dirty = state, true
	holders := map[netip.Prefix]string{}
	names := map[string]string{}
	for _, p := range l.files.expect.Peers {
		names[p.PublicKey] = p.Name
	}
	for _, p := range state.Peers {
		name := p.Name // as the last Apply had it: a peer whose key changes holds what it held
		if name == "" {
			name = names[p.PublicKey]
		}
		if name == "" {
			name = unknownHolder
		}
		for _, network := range p.AllowedIPs {
			holders[network] = name
		}
	}
	if !maps.Equal(t.holders, holders) {
		t.holders = holders
		l.at.owners++
	}
	return nil
}

// gone lets go of a device that somebody has deleted, so that it is made anew.
func (l *DataplaneLoop) gone(err error) []string {
	t := &l.tunnel
	l.Log.Warn("the WireGuard device is made anew", "error", err)
	if err := t.device.Close(); err != nil {
		l.Log.Warn("closing the WireGuard device", "error", err)
	}
	t.device, t.state, t.holders = nil, wireguard.State{}, nil
	l.at.owners++
	t.losses++
	l.tasks.open.due = l.Now().Add(l.backoff(t.losses))
	return texts(err)
}

// publishedDevice is the device as the status half sees it; nil: there is none.
func (l *DataplaneLoop) publishedDevice() *volume.WireGuard {
	t := &l.tunnel
	if t.device == nil {
		return nil
	}
	if !t.applied && t.before != nil { // where its peers are is all that is known of them
		return t.before
	}
	problems := map[string]string{}
	for _, p := range l.files.device.Peers {
		if text := l.names.problem(endpointName(p.Endpoint)); text != "" {
			problems[p.Name] = "endpoint: " + text
		}
	}
	for name, text := range t.problems {
		problems[name] = text
	}
	return t.totals.Publish(t.config, t.state, t.device.Userspace(), problems)
}

// endpointName is the host name in an endpoint; empty: it is an address, or there is
// none.
func endpointName(endpoint string) string {
	host, _, err := net.SplitHostPort(endpoint)
	if err != nil {
		return ""
	}
	if _, err := netip.ParseAddr(host); err == nil {
		return ""
	}
	return host
}
