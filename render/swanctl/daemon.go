package swanctl

import (
	"strings"

	"github.com/vpnctl/vpnctl/plan/vpn"
)

// Socket is where charon serves VICI, in the memory volume that the containers of
// a gateway pod share.
const Socket = "/run/vpnctl/charon.vici"

// RouteTable is the routing table of the tunnel routes. It is looked up before the
// table of the dedicated port, or replies would leave unencrypted by that table's
// default route.
const RouteTable = "220"

// plugins are loaded in this order: without X.509 (keys are shared secrets), and
// with kernel-libipsec before kernel-netlink, which it still needs for addresses
// and routes.
const (
	plugins       = "random nonce aes sha1 sha2 hmac kdf gcm openssl pem pkcs1 pubkey"
	pluginsKernel = plugins + " kernel-netlink socket-default counters vici"
	pluginsUser   = plugins + " kernel-libipsec kernel-netlink socket-default counters vici"
)

// How long charon waits for an answer: it sends a message again after 4, 5.2, 6.8 and
// 8.8 seconds, and gives the peer up 11.4 seconds after that, 36 seconds after the first
// one. Its own defaults (5 tries, each 1.8 times as long as the one before) make that 165
// seconds, for which a peer that started anew without a word, as one does whose power
// failed, would stay cut off: until then its old IKE SA counts as up, and nobody
// initiates. With a dead peer detection of 30 seconds it is found within 66 seconds.
//
// The first wait is as long as by default, so that a slow link (a satellite's answer
// takes 0.6 seconds, a busy peer's key exchange a second or two) is never asked twice
// without need, and five messages in a row have to be lost before a tunnel ends: with a
// loss of 10 % of all packets, either way, that happens to one exchange in 4,000.
const (
	retransmitTimeout = "4.0"
	retransmitBase    = "1.3"
	retransmitTries   = "4"
)

// Daemon writes strongswan.conf, the settings of charon itself. They follow from
// the data plane alone, so they change only with vpnctl or the estate.
func Daemon(dataplane string) string {
	load := pluginsKernel
	plugin := Section{Name: "plugins", Sections: []Section{
		{Name: "vici", Values: []Value{{"socket", "unix://" + Socket}}},
	}}
	if dataplane == vpn.DataplaneUserspace {
		load = pluginsUser
		plugin.Sections = append(plugin.Sections, Section{Name: "kernel-libipsec", Values: []Value{{"allow_peer_ts", "yes"}}})
	}
	charon := Section{
		Name: "charon-systemd",
		Values: []Value{
			{"load", load},
			{"install_virtual_ip", "no"},
			{"routing_table", RouteTable},
			{"routing_table_prio", "90"},
			{"retransmit_timeout", retransmitTimeout},
			{"retransmit_base", retransmitBase},
			{"retransmit_tries", retransmitTries},
		},
		Sections: []Section{plugin, {Name: "filelog", Sections: []Section{
			{Name: "stdout", Values: []Value{{"flush_line", "yes"}, {"default", "1"}}},
		}}},
	}
	var b strings.Builder
	if err := charon.write(&b, ""); err != nil {
		panic("swanctl: " + err.Error()) // every part is a constant of this file
	}
	return b.String()
}
