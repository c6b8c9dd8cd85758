package agent

import (
	"net/netip"

	"github.com/vpnctl/vpnctl/agent/routing"
	"github.com/vpnctl/vpnctl/agent/volume"
)

// Network is the pod's interfaces, routes and settings.
type Network interface {
	// Find returns the name of the interface with a MAC address, and false if there is
	// none.
	Find(mac string) (name string, found bool, err error)
	// Addresses are the pod's own, of whichever interface.
	Addresses() ([]netip.Addr, error)
	// Sysctls says which settings are wrong and can't be corrected.
	Sysctls(nic, tunnel string) (problems []string)
	// Route makes policy routing what the plan says.
	Route(routing.Plan) error
	// RouteTunnel leads the peers' networks into the tunnel's interface.
	RouteTunnel(device string, peers []netip.Prefix) error
}

// look finds the NIC and reads what the status half has written. Both change without
// notice.
func (l *DataplaneLoop) look() {
	if now := l.Now(); now.Before(l.looked.Add(l.Look)) && !now.Before(l.looked) {
		return
	}
	l.looked = l.Now()
	l.lookForNIC()
	l.lookForKeys()
	l.lookForCharon()
}

func (l *DataplaneLoop) lookForNIC() {
	t := &l.tasks.nic
	if !l.files.known {
		return
	}
	mac := l.files.expect.Port.MAC
	name, found, err := l.Network.Find(mac)
	before := t.problems
	t.tried, t.problems = true, texts(err)
	if err == nil && !found {
		t.problems = []string{"no interface has the port's MAC address " + mac}
	}
	if err == nil && name != l.nic { // an error says nothing about the one of before
		if found {
			l.Log.Info("interface found", "name", name, "mac", mac)
		}
		l.nic = name
		l.dirty = true
	}
	l.dirty = l.dirty || len(before) != len(t.problems)
}

// route keeps the settings and policy routing right.
func (l *DataplaneLoop) route() {
	if !l.files.known {
		return
	}
	p := l.files.port
	p.NIC = l.nic
	type settings struct {
		nic, tunnel string
		device      int // its settings come with it
	}
	l.attempt(&l.tasks.sysctls, settings{p.NIC, p.Tunnel, l.at.device}, func() []string {
		return l.Network.Sysctls(p.NIC, p.Tunnel)
	})
	if p.NIC == "" {
		l.tasks.routing.reset() // said by the NIC's problem
		return
	}
	l.attempt(&l.tasks.routing, p, func() []string { return texts(l.Network.Route(p)) })
}

// routeTunnel leads what is meant for the peers into the WireGuard device. A peer that
// is left out has its route all the same: what is meant for it goes nowhere else.
func (l *DataplaneLoop) routeTunnel() {
	type routes struct{ files, device int }
	l.attempt(&l.tasks.routes, routes{l.at.files, l.at.device}, func() []string {
		var all []netip.Prefix
		for _, p := range l.files.device.Peers {
			all = append(all, p.AllowedIPs...)
		}
		return texts(l.Network.RouteTunnel(l.files.port.Tunnel, all))
	})
}

// lookForKeys reads what the status half has handed over. What can't be read leaves
// the keys as they were.
func (l *DataplaneLoop) lookForKeys() {
	if !l.files.wireguard() {
		return
	}
	keys, found, err := l.Volume.ReadKeys()
	l.tunnel.keysProblem = errText(err)
	if err == nil && found && !sameKeys(keys, l.keys) {
		l.keys = keys
		l.at.keys++
	}
	if ref := l.files.expect.PrivateKey; err == nil && len(l.keys.PrivateKey) == 0 {
		l.tunnel.keysProblem = "the private key was not handed over yet: Secret " + ref.Name + ", key " + ref.Key
	}
}

func sameKeys(a, b volume.Keys) bool {
	same := string(a.PrivateKey) == string(b.PrivateKey) && len(a.Preshared) == len(b.Preshared)
	for name, key := range a.Preshared {
		other, there := b.Preshared[name]
		same = same && there && string(key) == string(other)
	}
	return same
}
