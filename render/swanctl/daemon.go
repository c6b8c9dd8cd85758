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
