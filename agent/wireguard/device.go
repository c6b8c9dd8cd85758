package wireguard

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"time"

	"golang.zx2c4.com/wireguard/wgctrl"
	"golang.zx2c4.com/wireguard/wgctrl/wgtypes"

	"github.com/vpnctl/vpnctl/plan/vpn"
)

// ErrGone says that the device is no more: somebody deleted it. It has to be closed
// and opened anew.
var ErrGone = errors.New("the device is gone")

// Device is a WireGuard device. It is for one goroutine.
type Device struct {
	name    string
	control control
	process *process // nil: it is the kernel's
	known   memory
	now     func() time.Time
	closers []func() error
}

// control reads and sets a device. wgctrl's client is one; the tests' speaks with a
// device in their own process, and needs neither root nor a network for it.
type control interface {
	Device(name string) (*wgtypes.Device, error)
	ConfigureDevice(name string, config wgtypes.Config) error
}

// Open finds or makes the device of that name, with its MTU, and up. dataplane is
// vpn.DataplaneKernel or vpn.DataplaneUserspace; see the package for what comes of it.
// A device of the kernel that is there is taken over as it is.
func Open(name, dataplane string) (*Device, error) {
	d := &Device{name: name, now: time.Now}
	if dataplane != vpn.DataplaneUserspace {
		err := openLink(name)
		if err != nil && !errors.Is(err, errUnsupported) {
			return nil, err
		}
		if err == nil {
			return d.connect()
		}
	}
	process, err := startProcess(name, socketDir)
	switch {
	case errors.Is(err, os.ErrNotExist) && dataplane != vpn.DataplaneUserspace:
		return nil, fmt.Errorf("opening %s: the kernel of this node has no WireGuard; gatewayPod.wireguardDataplane: userspace does without", name)
	case err != nil:
		return nil, fmt.Errorf("opening %s in this process: %w", name, err)
	}
	d.process = process
	d.closers = append(d.closers, process.close)
	return d.connect()
}

// connect comes last: asked before it is loaded, wgctrl takes the kernel to have no
// WireGuard.
func (d *Device) connect() (*Device, error) {
	client, err := wgctrl.New()
	if err == nil {
		d.control = client
		d.closers = append(d.closers, client.Close)
		_, err = d.read()
	}
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", d.name, errors.Join(err, d.Close()))
	}
	return d, nil
}

// Userspace tells whether the device is in this process.
func (d *Device) Userspace() bool { return d.process != nil }

// Apply makes the device what c says, in one message of what differs: a peer that is
// as it should be isn't named in it, and keeps its session. A peer that is added is
// spoken to at once, if it is known where. An endpoint is set when another one is
// configured than before; where a peer has moved to meanwhile is left alone. Another
// private key ends all sessions. Another preshared key counts from the next handshake
// on, two minutes later at most.
//
// The same c again takes back what others did to the device meanwhile.
//
// An error says what is not in force; all the rest is. Without a private key in c, the
// one that the device has stays; where that is the only fault, the error wraps ErrNoKey
// and nothing else. errors.Is(err, ErrGone): nothing is in force.
func (d *Device) Apply(c Config) (Change, error) {
	w := want(c)
	have, err := d.read()
	if err != nil {
		return Change{Problems: w.problems}, err
	}
	todo := diff(w, have, d.known, d.now())
	if !todo.change.Empty() {
		if err := d.configure(todo.config, todo.quiet); err != nil {
			return Change{Problems: w.problems}, errors.Join(err, w.err)
		}
	}
	d.known = todo.memory
	return todo.change, w.err
}

// configure sends what differs, and then what makes new peers quiet. Where the first
// fails, a port that is taken keeps no peer in: they are sent again by themselves.
func (d *Device) configure(c, quiet wgtypes.Config) error {
	err := d.send(c)
	if err != nil && len(c.Peers) > 0 && !errors.Is(err, ErrGone) {
		err = errors.Join(err, d.send(wgtypes.Config{Peers: c.Peers}))
	}
	if len(quiet.Peers) > 0 && !errors.Is(err, ErrGone) {
		err = errors.Join(err, d.send(quiet))
	}
	return err
}

func (d *Device) send(c wgtypes.Config) error {
	return d.explain("configuring", d.control.ConfigureDevice(d.name, c))
}

func (d *Device) read() (*wgtypes.Device, error) {
	if d.process != nil && d.process.ended() {
		return nil, fmt.Errorf("reading %s: %w", d.name, ErrGone)
	}
	have, err := d.control.Device(d.name)
	return have, d.explain("reading", err)
}

func (d *Device) explain(doing string, err error) error {
	if errors.Is(err, os.ErrNotExist) {
		err = ErrGone
	}
	if err != nil {
		err = fmt.Errorf("%s %s: %w", doing, d.name, err)
	}
	return err
}

// Read returns the device as it is. errors.Is(err, ErrGone): it is no more.
func (d *Device) Read() (State, error) {
	have, err := d.read()
	if err != nil {
		return State{}, err
	}
	s := State{ListenPort: have.ListenPort, FirewallMark: have.FirewallMark}
	if have.PrivateKey != (wgtypes.Key{}) {
		s.PublicKey = have.PrivateKey.PublicKey().String()
	}
	for _, p := range have.Peers {
		s.Peers = append(s.Peers, d.peer(p))
	}
	slices.SortFunc(s.Peers, func(a, b PeerState) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.PublicKey, b.PublicKey))
	})
	return s, nil
}

func (d *Device) peer(p wgtypes.Peer) PeerState {
	s := PeerState{
		Name: d.known.names[p.PublicKey], PublicKey: p.PublicKey.String(), Preshared: p.PresharedKey != (wgtypes.Key{}),
		Endpoint: addrPort(p.Endpoint), Handshake: p.LastHandshakeTime,
		Received: uint64(p.ReceiveBytes), Sent: uint64(p.TransmitBytes), Keepalive: p.PersistentKeepaliveInterval,
	}
	for _, n := range p.AllowedIPs {
		s.AllowedIPs = append(s.AllowedIPs, prefix(n))
	}
	slices.SortFunc(s.AllowedIPs, netip.Prefix.Compare)
	return s
}

// Close lets go of the device. The kernel's stays, with its sessions; one in this
// process ends.
func (d *Device) Close() error {
	var errs []error
	for _, closer := range slices.Backward(d.closers) {
		errs = append(errs, closer())
	}
	d.closers = nil
	return errors.Join(errs...)
}
