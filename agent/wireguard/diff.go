package wireguard

import (
	"net"
	"net/netip"
	"slices"
	"time"

	"golang.zx2c4.com/wireguard/wgctrl/wgtypes"
)

// SessionAge is how long a session is good for without another handshake: the protocol's
// REJECT_AFTER_TIME.
const SessionAge = 180 * time.Second

// memory is what a device doesn't tell: which peer is whose, and which endpoint was
// set by us rather than learnt from a packet.
type memory struct {
	names     map[wgtypes.Key]string
	endpoints map[wgtypes.Key]netip.AddrPort // the last one that was configured
}

// difference is what makes the device what is wanted: one message, in which what is
// equal isn't mentioned.
type difference struct {
	config wgtypes.Config
	quiet  wgtypes.Config // to be sent afterwards, see add
	change Change
	memory memory // once the device has it
}

// diff compares. Peers that go come first, so that a mistake in what follows doesn't
// keep them in.
func diff(w wanted, have *wgtypes.Device, known memory, now time.Time) difference {
	d := difference{
		change: Change{Problems: w.problems},
		memory: memory{names: map[wgtypes.Key]string{}, endpoints: map[wgtypes.Key]netip.AddrPort{}},
	}
	d.device(w, have)
	gained := d.removals(w, have, known)
	present := make(map[wgtypes.Key]wgtypes.Peer, len(have.Peers))
	for _, p := range have.Peers {
		present[p.PublicKey] = p
	}
	for _, key := range w.order {
		peer := w.peers[key]
		d.memory.names[key] = peer.name
		if there, found := present[key]; found {
			d.update(key, peer, there, gained, known, now)
		} else {
			d.add(key, peer)
		}
	}
	slices.Sort(d.change.Added)
	slices.Sort(d.change.Changed)
	slices.Sort(d.change.Removed)
	return d
}

// device compares what belongs to no peer. A private key that isn't there leaves the
// one that the device has: the sessions of everybody depend on it.
func (d *difference) device(w wanted, have *wgtypes.Device) {
	if w.err == nil && have.PrivateKey != w.private {
		d.config.PrivateKey = &w.private
	}
	if have.ListenPort != w.port {
		d.config.ListenPort = &w.port
	}
	if have.FirewallMark != w.mark {
		d.config.FirewallMark = &w.mark
	}
	d.change.Device = d.config.PrivateKey != nil || d.config.ListenPort != nil || d.config.FirewallMark != nil
}

// removals takes off who isn't wanted, and returns who has each wanted network: a
// network that another peer gains leaves its old one by that alone.
func (d *difference) removals(w wanted, have *wgtypes.Device, known memory) map[netip.Prefix]wgtypes.Key {
	for _, p := range have.Peers {
		if _, stays := w.peers[p.PublicKey]; stays {
			continue
		}
		d.config.Peers = append(d.config.Peers, wgtypes.PeerConfig{PublicKey: p.PublicKey, Remove: true})
		name := known.names[p.PublicKey]
		if name == "" {
			name = p.PublicKey.String()
		}
		d.change.Removed = append(d.change.Removed, name)
	}
	owners := map[netip.Prefix]wgtypes.Key{}
	for key, p := range w.peers {
		for _, network := range p.allowed {
			owners[network] = key
		}
	}
	return owners
}

// add puts in a peer that isn't there, and speaks to it.
func (d *difference) add(key wgtypes.Key, p wantedPeer) {
	at := p.endpoint
	if !at.IsValid() {
		at = p.seen
	}
	c := wgtypes.PeerConfig{
		PublicKey: key, ReplaceAllowedIPs: true, AllowedIPs: ipNets(p.allowed), Endpoint: udpAddr(at),
	}
	if p.preshared != (wgtypes.Key{}) {
		c.PresharedKey = &p.preshared
	}
	if p.keepalive != 0 {
		c.PersistentKeepaliveInterval = &p.keepalive
	} else if at.IsValid() {
		d.speak(&c)
	}
	if p.endpoint.IsValid() {
		d.memory.endpoints[key] = p.endpoint
	}
	d.config.Peers = append(d.config.Peers, c)
	d.change.Added = append(d.change.Added, p.name)
}

// speak begins a session with a peer that has none and wants no keepalives, rather than
// wait for traffic. Its own side may still have a session that ended here, with the pod
// or with this process: it would take a quarter of a minute to notice. A device sends a
// packet at once when keepalives are turned on, so they are, and off again.
func (d *difference) speak(c *wgtypes.PeerConfig) {
	on, off := 25*time.Second, time.Duration(0) // neither is waited for
	c.PersistentKeepaliveInterval = &on
	d.quiet.Peers = append(d.quiet.Peers, wgtypes.PeerConfig{
		PublicKey: c.PublicKey, UpdateOnly: true, PersistentKeepaliveInterval: &off,
	})
}

func (d *difference) update(key wgtypes.Key, p wantedPeer, have wgtypes.Peer, owners map[netip.Prefix]wgtypes.Key, known memory, now time.Time) {
	c := wgtypes.PeerConfig{PublicKey: key, UpdateOnly: true}
	differs := false
	if p.preshared != have.PresharedKey {
		c.PresharedKey, differs = &p.preshared, true
	}
	if p.keepalive != have.PersistentKeepaliveInterval {
		c.PersistentKeepaliveInterval, differs = &p.keepalive, true
	}
	moved := d.endpoint(key, p, have, known, now)
	if moved {
		c.Endpoint, differs = udpAddr(p.endpoint), true
	}
	// Its address, or our own key, was still missing when the peer was added.
	rekeyed := d.config.PrivateKey != nil && (moved || have.Endpoint != nil)
	if p.keepalive == 0 && (rekeyed || moved && now.Sub(have.LastHandshakeTime) >= SessionAge) {
		d.speak(&c)
		differs = true
	}
	if c.ReplaceAllowedIPs, c.AllowedIPs = networks(key, p, have, owners); c.ReplaceAllowedIPs || len(c.AllowedIPs) > 0 {
		differs = true
	}
	// A peer that only loses networks to others is changed, and needs no word.
	if differs {
		d.config.Peers = append(d.config.Peers, c)
	}
	if differs || len(p.allowed) < len(have.AllowedIPs) {
		d.change.Changed = append(d.change.Changed, p.name)
	}
}

// endpoint tells whether a peer's endpoint is to be set. A peer may have moved since
// it was: only another configured one counts. Of a device that was taken over nothing
// is remembered: there a peer with a living session is where its packets come from.
//
//	configured   last configured   device      session   → set
//	none         any               any         any       no
//	a            a                 any         any       no
//	a            b                 any         any       yes
//	a            unknown           a           any       no
//	a            unknown           other       living    no, and asked again next time
//	a            unknown           other       none      yes
func (d *difference) endpoint(key wgtypes.Key, p wantedPeer, have wgtypes.Peer, known memory, now time.Time) bool {
	last, remembered := known.endpoints[key]
	if !p.endpoint.IsValid() {
		if remembered {
			d.memory.endpoints[key] = last
		}
		return false
	}
	same := addrPort(have.Endpoint) == p.endpoint
	if !remembered && !same && now.Sub(have.LastHandshakeTime) < SessionAge {
		return false
	}
	d.memory.endpoints[key] = p.endpoint
	return !same && last != p.endpoint
}

// networks compares allowed IPs. They are replaced only where one is to belong to
// nobody any more: between taking all of them away and giving them back, packets are
// lost. What is gained is added; what another peer gains has moved there.
func networks(key wgtypes.Key, p wantedPeer, have wgtypes.Peer, owners map[netip.Prefix]wgtypes.Key) (replace bool, add []net.IPNet) {
	held := map[netip.Prefix]bool{}
	for _, n := range have.AllowedIPs {
		network := prefix(n)
		held[network] = true
		if _, wanted := owners[network]; !wanted {
			replace = true
		}
	}
	if replace {
		return true, ipNets(p.allowed)
	}
	var gained []netip.Prefix
	for _, network := range p.allowed {
		if !held[network] {
			gained = append(gained, network)
		}
	}
	return false, ipNets(gained)
}
