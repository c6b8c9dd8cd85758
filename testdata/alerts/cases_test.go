package alerts

import (
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/promql/promqltest"
)

// cases are what the agent shows, minute by minute, and which alerts fire in a minute.
var cases = []struct {
	name string
	load string
	at   int
	want []string
}{
	{"all is well", well(), 60, nil},
	{"a tunnel is down, for less than its time", well("vpnctl_tunnel_up 1x10 0x50"), 15, nil},
	{"a tunnel is down", well("vpnctl_tunnel_up 1x10 0x50"), 16, []string{"VPNTunnelDown" + tunnel}},
	{"a tunnel is down for long, and sent to: that is no WireGuard", well("vpnctl_tunnel_up 1x10 0x50"), 50, []string{"VPNTunnelDown" + tunnel}},
	{"a tunnel came back", well("vpnctl_tunnel_up 1x10 0x20 1x30"), 40, nil},
	{"a tunnel was down twice, each time for less than its time", well("vpnctl_tunnel_up 1x10 0x3 1x1 0x3 1x40"), 18, nil},
	{"a tunnel is down across a move of the pod", well("vpnctl_tunnel_up 0x3 stale", "vpnctl_tunnel_up@b _x3 0x50"), 6, []string{"VPNTunnelDown" + tunnel}},
	{"a tunnel is up in the new pod", well("vpnctl_tunnel_up 1x9 stale", "vpnctl_tunnel_up@b _x9 0x2 1x50"), 30, nil},
	{"the peer was removed", well("vpnctl_tunnel_up 0x3 stale", "vpnctl_tunnel_known 1x3 stale"), 30, nil},
	{"unknown isn't down", well("vpnctl_tunnel_up 0x2 stale", "vpnctl_tunnel_known 1 0x59", "vpnctl_charon_up 1 0x59"), 30, []string{"VPNStateUnknown" + gateway}},
	{"unknown for a moment", well("vpnctl_tunnel_known 1x5 0x3 1x50", "vpnctl_charon_up 1x5 0x3 1x50"), 30, nil},
	{"a tunnel goes up and down", well("vpnctl_tunnel_up 1 0 1 0 1 0 1x50"), 8, []string{"VPNTunnelFlapping" + tunnel}},
	{"two interruptions are no flapping", well("vpnctl_tunnel_up 1x2 0 1 1x50"), 10, nil},

	{"a road warrior is away", well("vpnctl_charon_up none", "vpnctl_tunnel_up 0x60", "vpnctl_peer_sent_bytes_total 900x60"), 60, nil},
	{"a road warrior is away, and still sent to", well("vpnctl_charon_up none", "vpnctl_tunnel_up 0x60", "vpnctl_peer_roaming 1x60"), 60, nil},
	{"a session comes and goes with the traffic", well("vpnctl_charon_up none", "vpnctl_tunnel_up 1 0 1 0 1 0 1 0 1 0 1x50"), 10, nil},
	{"a WireGuard peer is sent to and doesn't answer", well("vpnctl_charon_up none", "vpnctl_tunnel_up 0x60", "vpnctl_peer_sent_bytes_total 0+148x60"), 20, []string{"VPNHandshakeStale" + tunnel}},

	{"a Secret is missing", well("vpnctl_peer_secret_missing 0x5 1x50"), 11, []string{"VPNSecretMissing" + peer}},
	{"a Secret is missing for a moment", well("vpnctl_peer_secret_missing 0x5 1x3 0x50"), 20, nil},
	{"one missing key is one alert", well("vpnctl_peer_secret_missing 1x60", "vpnctl_tunnel_up 0x60", "vpnctl_config_in_force 0x60", "vpnctl_problems#keys 1x60"), 50,
		[]string{"VPNSecretMissing" + peer}},
	{"one missing key doesn't hide another problem", well("vpnctl_peer_secret_missing 1x60", "vpnctl_problems 1x60"), 50,
		[]string{`VPNProblem{gateway="old", namespace="initech", part="dns"}`, "VPNSecretMissing" + peer}},
	{"the gateway's own key is missing", well("vpnctl_problems#keys 1x60"), 50, []string{`VPNProblem{gateway="old", namespace="initech", part="keys"}`}},
	{"a WireGuard peer without its key is sent to", well("vpnctl_charon_up none", "vpnctl_tunnel_up 0x60", "vpnctl_peer_sent_bytes_total 0+148x60", "vpnctl_peer_secret_missing 1x60"), 50,
		[]string{"VPNSecretMissing" + peer}},
	{"no ruleset", well("vpnctl_ruleset_in_force 0x60"), 3, []string{"VPNRulesetNotInForce" + gateway}},
	{"no ruleset yet", well("vpnctl_ruleset_in_force 0 1x59"), 3, nil},
	{"the file isn't in force", well("vpnctl_config_in_force 1x3 0x50"), 20, []string{"VPNConfigNotInForce" + gateway}},
	{"loads fail again and again", well("vpnctl_reload_errors_total 0+2x60"), 20, []string{"VPNReloadErrors" + gateway}},
	{"one load failed", well("vpnctl_reload_errors_total 0x5 1x55"), 20, nil},
	{"the agent started again after errors long ago", well("vpnctl_reload_errors_total 40x20 0x40", "vpnctl_secret_errors_total 7x20 0x40", "vpnctl_charon_reconnects_total 9x20 0x40"), 25, nil},
	{"the dataplane container is silent", well("vpnctl_dataplane_age_seconds 3 60+60x58"), 5, []string{"VPNDataplaneStale" + gateway}},
	{"a host doesn't resolve", well("vpnctl_problems 0x3 1x50"), 20, []string{`VPNProblem{gateway="old", namespace="initech", part="dns"}`}},
	{"the API is away", well("vpnctl_secret_errors_total 0+3x60"), 20, []string{"VPNSecretErrors" + gateway}},
	{"charon restarts", well("vpnctl_charon_reconnects_total 0x3 1 2 3 4 5 6x50"), 12, []string{"VPNCharonRestarts" + gateway}},
	{"charon restarted once", well("vpnctl_charon_reconnects_total 0x3 1x50"), 12, nil},
	{"a gateway without peers", well("vpnctl_tunnel_up none", "vpnctl_tunnel_known none", "vpnctl_peer_sent_bytes_total none", "vpnctl_peer_secret_missing none"), 60, nil},
}

func TestAlerts(t *testing.T) {
	fired := map[string]bool{}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			for _, file := range []string{ofAll, ofOne} {
				for _, name := range check(t, file, c.load, c.at, c.want) {
					name, _, _ = strings.Cut(name, "{")
					fired[name] = true
				}
			}
		})
	}
	for _, r := range rules(t, ofAll) {
		if !fired[r.Alert] && r.Alert != "VPNGatewayUnobserved" && r.Alert != "VPNChangeNotInForce" { // see below
			t.Errorf("%s never fired", r.Alert)
		}
	}
}

// TestWhatWaitsForADay: what was changed and isn't in force is no alert before a day has
// passed, in which most peers authenticate anew.
func TestWhatWaitsForADay(t *testing.T) {
	waits := []string{`VPNChangeNotInForce{gateway="old", namespace="initech", what="key"}`}
	for _, c := range []struct {
		load string
		at   int
		want []string
	}{
		{"vpnctl_peer_pending#key 1x2000", 1439, nil},
		{"vpnctl_peer_pending#key 1x2000", 1440, waits},
		{"vpnctl_peer_pending#key 1x1000 stale", 1440, nil},
	} {
		check(t, ofAll, series(c.load), c.at, c.want)
		check(t, ofOne, series(c.load, "vpnctl_config_info 1x2000"), c.at, c.want)
	}
}

// TestUnobserved is apart, since the rules of one gateway know that it should be there.
func TestUnobserved(t *testing.T) {
	const info, deployment, ruleset = "vpnctl_config_info", "kube_deployment_spec_replicas", "kube_configmap_info 1x200"
	lost := []string{"VPNGatewayUnobserved" + gateway}
	for _, c := range []struct {
		name     string
		load     string
		at       int
		all, one []string
	}{
		{"never seen", series(deployment+" 1x60", ruleset), 20, lost, lost},
		{"never seen, and ConfigMaps are not collected", series(deployment + " 1x60"), 20, nil, lost},
		{"never seen: somebody else's Deployment", series(deployment+" 1x60", "kube_configmap_info#other-nat 1x60"), 20, nil, lost},
		{"lost", series(info+" 1x5 stale", deployment+" 1x60", ruleset), 17, lost, lost},
		{"lost, and ConfigMaps are not collected", series(info+" 1x5 stale", deployment+" 1x60"), 17, lost, lost},
		{"lost long ago", series(info+" 1x5 stale", deployment+" 1x200", ruleset), 150, lost, lost},
		{"lost just now", series(info+" 1x5 stale", deployment+" 1x60", ruleset), 15, nil, nil},
		{"back in another pod", series(info+" 1x5 stale", info+"@b _x8 1x50", deployment+" 1x60", ruleset), 30, nil, nil},
		{"removed: its own rules go with it", series(info+" 1x5 stale", deployment+" 1x5 stale", ruleset), 30, nil, lost},
		{"scaled to none", series(info+" 1x5 stale", deployment+" 1x5 0x50", ruleset), 30, nil, lost},
	} {
		t.Run(c.name, func(t *testing.T) {
			check(t, ofAll, c.load, c.at, c.all)
			check(t, ofOne, c.load, c.at, c.one)
		})
	}
}

// check compares what fires, and returns it.
func check(t *testing.T, file, load string, at int, want []string) []string {
	t.Helper()
	from := promqltest.LoadedStorage(t, load)
	engine := promqltest.NewTestEngine(t, false, 0, 1e6)
	var got []string
	for _, r := range rules(t, file) {
		got = append(got, firing(t, engine, from, r, at)...)
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("%s: after %d minutes fire %q, want %q\n%s", file, at, got, want, load)
	}
	return got
}
