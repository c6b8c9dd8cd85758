package pod

import (
	"strings"

	"github.com/vpnctl/vpnctl/render/monitoring"
)

// Labels that an alert keeps. The pod's are dropped, so that an alert outlives the pod
// that it is about.
const (
	byGateway = "by (namespace, gateway) "
	byPart    = "by (namespace, gateway, part) "
	byPeer    = "by (namespace, gateway, peer) "
	byWhat    = "by (namespace, gateway, what) "
	byWaiting = "by (namespace, gateway, peer, what) "
	byTunnel  = "by (namespace, gateway, peer, tunnel) "
)

// How an alert names what it is about.
const (
	theGateway = "gateway {{ $labels.namespace }}/{{ $labels.gateway }}"
	thePeer    = "peer {{ $labels.peer }} of " + theGateway
	theTunnel  = "tunnel {{ $labels.tunnel }} of " + thePeer
)

// Where an alert's reader looks next.
const (
	inStatus = "the status of the gateway's resource"
	inShow   = "kubectl -n {{ $labels.namespace }} exec deploy/{{ $labels.gateway }} -c status -- vpnctl agent show"
)

// A key that is missing has an alert of its own, and isn't told a second time by those
// for what comes of it.
const (
	keyMissing      = "max " + byPeer + "(vpnctl_peer_secret_missing{of}) == 1"
	unlessItsKey    = " unless on (namespace, gateway, peer) " + keyMissing
	unlessSomeKey   = " unless on (namespace, gateway) " + keyMissing
	unlessKeysOfOne = " unless on (namespace, gateway, part) label_replace(" + keyMissing + `, "part", "keys", "", "")`
)

// alerts are those on the gateways that the selector names ("" for all), unobserved
// being the expression for one that shows nothing.
//
// vpnctl_charon_up exists for IPsec gateways only, and so tells the protocols apart: a
// WireGuard session without traffic ends after three minutes and is none the worse for
// it, an IPsec tunnel is to be up at all times.
func alerts(of, unobserved string) []monitoring.Alert {
	all := tunnelAlerts()
	all = append(all, gatewayAlerts()...)
	for i := range all {
		all[i].Expr = strings.ReplaceAll(all[i].Expr, "{of}", of)
	}
	return append(all, monitoring.NewAlert("VPNGatewayUnobserved", unobserved, "10m", "critical",
		"nothing is known of "+theGateway,
		"The status container can't be scraped, or there is no pod. Look at the Deployment's pod and its events, then at the PodMonitor."))
}

func tunnelAlerts() []monitoring.Alert {
	const ipsec = " and on (namespace, gateway) max " + byGateway + "(vpnctl_charon_up{of}) == 1"
	return []monitoring.Alert{
		monitoring.NewAlert("VPNTunnelDown", "max "+byTunnel+"(vpnctl_tunnel_up{of}) == 0"+ipsec+unlessItsKey, "5m", "critical",
			theTunnel+" is down",
			"The agent initiates it again and again. The reason of the last failure is in "+inStatus+", in the log of the status container, and in: "+inShow),
		monitoring.NewAlert("VPNTunnelFlapping", "max "+byTunnel+"(changes(vpnctl_tunnel_up{of}[15m])) > 3"+ipsec, "0s", "warning",
			theTunnel+" goes up and down",
			"Compare lifetimes and DPD of both sides, and look for packet loss between them. Rekeying alone doesn't show here."),
		monitoring.NewAlert("VPNHandshakeStale", "(max "+byTunnel+"(vpnctl_tunnel_up{of}) == 0 unless on (namespace, gateway) max "+byGateway+"(vpnctl_charon_up{of}))"+
			" and on (namespace, gateway, peer) max "+byPeer+"(increase(vpnctl_peer_sent_bytes_total{of}[5m])) > 0"+
			" unless on (namespace, gateway, peer) max "+byPeer+"(vpnctl_peer_roaming{of})"+unlessItsKey, "10m", "warning",
			thePeer+" is sent to, and doesn't shake hands",
			"Keys or endpoint of the two sides don't match, or UDP doesn't get through. Where the endpoint is a host name that doesn't resolve, this says so: "+inShow+". A peer that nobody sends to doesn't show here, nor one that may be offline, such as a laptop."),
		monitoring.NewAlert("VPNSecretMissing", keyMissing, "5m", "critical",
			thePeer+" has no key",
			"It can't authenticate: its tunnels are down, or stay down once they end. Create the Secret that the peer names, with the key that it names, in the gateway's namespace; it is noticed within half a minute. Which one it is, says: "+inShow),
		monitoring.NewAlert("VPNChangeNotInForce", "count "+byWhat+"(max "+byWaiting+"(vpnctl_peer_pending{of})) > 0", "24h", "warning",
			"{{ $value }} peers of "+theGateway+" have run for a day without a change that was made to them ({{ $labels.what }})",
			"It is in force after the next authentication, and rekeying is none. Another key that only one side has ends the tunnel then, at a time that nobody chose: once both have it, let the peer authenticate anew (Keys, in vpnctl's README). Whose changes wait, says: "+inShow),
	}
}

func gatewayAlerts() []monitoring.Alert {
	return []monitoring.Alert{
		monitoring.NewAlert("VPNStateUnknown", "max "+byGateway+"(vpnctl_tunnel_known{of}) == 0", "5m", "warning",
			"it isn't known whether the tunnels of "+theGateway+" are up",
			"charon doesn't answer, or for WireGuard the dataplane container publishes nothing. Tunnels may well be up. Look at the restarts and logs of both containers, and at: "+inShow),
		monitoring.NewAlert("VPNCharonRestarts", "max "+byGateway+"(increase(vpnctl_charon_reconnects_total{of}[30m])) > 3", "0s", "warning",
			"charon of "+theGateway+" keeps restarting",
			"Each restart ends all tunnels of the gateway. Look at the container's last state (out of memory?) and its log."),
		monitoring.NewAlert("VPNRulesetNotInForce", "max "+byGateway+"(vpnctl_ruleset_in_force{of}) == 0", "2m", "critical",
			"no ruleset is in force on "+theGateway,
			"No tunnel is brought up until there is one. What stands in the way, say the dataplane container's log and: "+inShow),
		monitoring.NewAlert("VPNConfigNotInForce", "max "+byGateway+"(vpnctl_config_in_force{of}) == 0"+unlessSomeKey, "10m", "warning",
			"what was written for "+theGateway+" isn't what is in force",
			"Some connection, key or peer could not be loaded; what was in force before still is. The reason is in "+inStatus+", in the log of the status container, and in: "+inShow),
		monitoring.NewAlert("VPNReloadErrors", "sum "+byGateway+"(increase(vpnctl_reload_errors_total{of}[5m])) > 0", "10m", "warning",
			"files of "+theGateway+" can't be put in force, try after try",
			"See vpnctl_problems for the part; the reason is in the logs of the dataplane and status containers, and in: "+inShow),
		monitoring.NewAlert("VPNDataplaneStale", "min "+byGateway+"(vpnctl_dataplane_age_seconds{of}) > 60", "2m", "critical",
			"the dataplane container of "+theGateway+" shows no sign of life",
			"Packets pass by the rules as they were. Changes of grants, addresses and WireGuard peers don't take effect. Look at the container's restarts and log."),
		monitoring.NewAlert("VPNProblem", "max "+byPart+"(vpnctl_problems{of}) > 0"+unlessKeysOfOne, "10m", "warning",
			"part {{ $labels.part }} of "+theGateway+" has a problem",
			"nic, routing and sysctl: the pod's second interface; dns: a host that doesn't resolve; keys: a Secret; status: the API. The text is in the logs of the dataplane and status containers, and in: "+inShow),
		monitoring.NewAlert("VPNSecretErrors", "sum "+byGateway+"(increase(vpnctl_secret_errors_total{of}[10m])) > 0", "10m", "warning",
			theGateway+" can't read its Secrets",
			"The API doesn't answer, or the gateway's Role doesn't name them. Keys that were read before stay in use."),
	}
}
