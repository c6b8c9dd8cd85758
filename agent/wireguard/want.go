package wireguard

import (
	"fmt"
	"net/netip"
	"slices"
	"time"

	"golang.zx2c4.com/wireguard/wgctrl/wgtypes"
)

// wanted is a Config whose values can all be set at once: a device holds a key once
// and a network once, so that of two peers that want it the later one would take it
// from the earlier one, at every Apply again.
type wanted struct {
	private  wgtypes.Key // zero: there is none that can be set
	public   wgtypes.Key // of the private one
	port     int
	mark     int
	peers    map[wgtypes.Key]wantedPeer
	order    []wgtypes.Key     // of the peers, as configured
	problems map[string]string // by the name of a peer
	err      error             // of the device's own settings
}

type wantedPeer struct {
	name      string
	preshared wgtypes.Key // zero: none
	endpoint  netip.AddrPort
	seen      netip.AddrPort
	allowed   []netip.Prefix // sorted
	keepalive time.Duration
}

func want(c Config) wanted {
	w := wanted{port: c.ListenPort, mark: c.FirewallMark, peers: map[wgtypes.Key]wantedPeer{}, problems: map[string]string{}}
	var err error
	if w.private, err = privateKey(c.PrivateKey); err != nil {
		w.err = fmt.Errorf("private key: %w", err)
	} else {
		w.public = w.private.PublicKey()
	}
	networks := map[netip.Prefix]string{}
	for _, p := range c.Peers {
		key, peer, err := w.peer(p)
		if err != nil {
			w.problem(p.Name, err.Error())
			continue
		}
		peer.allowed, peer.seen = w.networks(networks, p), unmap(c.Seen[p.Name])
		w.peers[key] = peer
		w.order = append(w.order, key)
	}
	return w
}

// peer reads one peer. One whose keys can't be had is left out: without its preshared
// key it would be up on less than was asked for.
func (w *wanted) peer(p Peer) (wgtypes.Key, wantedPeer, error) {
	none := func(format string, args ...any) (wgtypes.Key, wantedPeer, error) {
		return wgtypes.Key{}, wantedPeer{}, fmt.Errorf(format, args...)
	}
	if p.Missing != "" {
		return none("%s", p.Missing)
	}
	key, err := parseKey([]byte(p.PublicKey))
	if err != nil {
		return none("public key: %w", err)
	}
	if other, taken := w.peers[key]; taken {
		return none("public key: %s has it", other.name)
	}
	if key == w.public {
		return none("public key: it is the gateway's own")
	}
	peer := wantedPeer{name: p.Name, endpoint: unmap(p.Endpoint), keepalive: p.Keepalive.Truncate(time.Second)}
	if len(p.Preshared) > 0 {
		if peer.preshared, err = parseKey(p.Preshared); err != nil {
			return none("preshared key: %w", err)
		}
	}
	return key, peer, nil
}

// networks are those of a peer that no earlier one has.
func (w *wanted) networks(taken map[netip.Prefix]string, p Peer) []netip.Prefix {
	var all []netip.Prefix
	for _, network := range p.AllowedIPs {
		network = network.Masked()
		owner, there := taken[network]
		switch {
		case !network.IsValid():
			w.problem(p.Name, "one of its networks is no network")
		case there && owner != p.Name:
			w.problem(p.Name, fmt.Sprintf("%s is %s's", network, owner))
		case !there:
			taken[network] = p.Name
			all = append(all, network)
		}
	}
	slices.SortFunc(all, netip.Prefix.Compare)
	return all
}

// problem keeps the first that is found with a peer.
func (w *wanted) problem(peer, text string) {
	if w.problems[peer] == "" {
		w.problems[peer] = text
	}
}

// unmap writes an address in the one form in which addresses are compared.
func unmap(a netip.AddrPort) netip.AddrPort { return netip.AddrPortFrom(a.Addr().Unmap(), a.Port()) }
