package agent

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/vpnctl/vpnctl/agent/vici"
	"github.com/vpnctl/vpnctl/agent/volume"
)

// Metrics shows the last tick of a StatusLoop to Prometheus. A scrape asks nobody
// anything: it costs the same whether charon answers or hangs.
//
// Each tunnel that should be up has a vpnctl_tunnel_up at all times. While it isn't
// known whether it is, vpnctl_tunnel_known is 0 and vpnctl_tunnel_up keeps its last
// value for StatusLoop.Keep; after that it is absent, because a value would be a claim.
type Metrics struct{ loop *StatusLoop }

// Labels.
var (
	ofGateway = []string{"namespace", "gateway"}
	ofPeer    = append(ofGateway[:2:2], "peer")
	ofTunnel  = append(ofPeer[:3:3], "tunnel")
	ofHash    = append(ofGateway[:2:2], "hash")
	ofPart    = append(ofGateway[:2:2], "part")
	ofGrants  = append(ofPeer[:3:3], "direction")
	ofHalf    = append(ofGateway[:2:2], "half")
	ofPending = append(ofPeer[:3:3], "what")
)

// What is measured. A tunnel is an IPsec child SA, or a WireGuard peer's session.
var (
	tunnelUp    = desc("tunnel_up", "1 if the tunnel is up. Absent once its state has been unknown for a minute.", ofTunnel)
	tunnelKnown = desc("tunnel_known", "1 if it is known whether the tunnel is up; 0 while the data plane doesn't answer.", ofTunnel)
	tunnelRekey = desc("tunnel_rekey_seconds", "Seconds until the child SA is rekeyed.", ofTunnel)

	peerReceived    = desc("peer_received_bytes_total", "Bytes received from the peer through its tunnels.", ofPeer)
	peerSent        = desc("peer_sent_bytes_total", "Bytes sent to the peer through its tunnels.", ofPeer)
	peerHandshake   = desc("peer_handshake_age_seconds", "Seconds since the last handshake of the WireGuard peer; absent before the first.", ofPeer)
	peerRekey       = desc("peer_rekey_seconds", "Seconds until the first of the peer's SAs is rekeyed, IKE SAs included.", ofPeer)
	peerEstablished = desc("peer_established_seconds", "Seconds since the peer came up; absent while it is not.", ofPeer)
	peerGrants      = desc("peer_grants", "Exposures that the peer may use (direction exposure), or that lead to it (direction reverse).", ofGrants)
	peerRoaming     = desc("peer_roaming", "Always 1; only for peers that are offline at times without a fault, such as laptops.", ofPeer)
	peerPending     = desc("peer_pending", "Always 1; only while a change of the peer is loaded and not in force before its next re-authentication: other timers, or another key (what).", ofPending)
	peerSecret      = desc("peer_secret_missing", "1 if the peer's Secret, or its key in it, is missing or empty.", ofPeer)

	rulesetInForce = desc("ruleset_in_force", "1 if a ruleset is in force.", ofGateway)
	rulesetInfo    = desc("ruleset_info", "Always 1; the label is the hash of the ruleset in force.", ofHash)
	rulesetSince   = desc("ruleset_in_force_timestamp_seconds", "When the ruleset came into force.", ofGateway)
	configInForce  = desc("config_in_force", "1 if the mounted gateway file is in force in whole; for IPsec, if charon has loaded all of it (what the tunnels that are up wait for is vpnctl_peer_pending).", ofGateway)
	configInfo     = desc("config_info", "Always 1; the label is the hash of the gateway file that was read last.", ofHash)
	configSince    = desc("config_in_force_timestamp_seconds", "When the gateway file came into force in whole.", ofGateway)
	reloadErrors   = desc("reload_errors_total", "Files, connections and keys that a half of the agent could not put in force.", ofHalf)
	problems       = desc("problems", "Problems that the agent sees at present, by part.", ofPart)
	flowsCut       = desc("flows_cut_total", "Connections ended because their grant was withdrawn.", ofGateway)
	dataplaneAge   = desc("dataplane_age_seconds", "Seconds since the dataplane half has published its state.", ofGateway)

	initiates    = desc("initiates_total", "Tunnels that the watchdog has initiated.", ofGateway)
	reconnects   = desc("charon_reconnects_total", "Sessions with charon after the first one.", ofGateway)
	charonUp     = desc("charon_up", "1 if charon answers.", ofGateway)
	secretErrors = desc("secret_errors_total", "Calls for a Secret that failed; one that isn't there is no failure.", ofGateway)
	buildInfo    = desc("build_info", "Always 1; the label is the version of the agent.", []string{"version"})
)

func desc(name, help string, labels []string) *prometheus.Desc {
	return prometheus.NewDesc("vpnctl_"+name, help, labels, nil)
}

// pendingLabel is how the label what spells what waits.
var pendingLabel = map[string]string{waitsTimers: "timers", waitsKey: "key"}

// parts have a problems series at all times, 0 if all is well.
var parts = []string{
	volume.PartNIC, volume.PartRouting, volume.PartSysctl, volume.PartRuleset, volume.PartWireGuard,
	volume.PartKeys, volume.PartDNS, PartConfig, PartCharon, PartStatus, PartVolume, PartDataplane,
}

// Describe lists every metric.
func (m Metrics) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		tunnelUp, tunnelKnown, tunnelRekey, peerReceived, peerSent, peerHandshake, peerRekey, peerEstablished, peerGrants, peerRoaming, peerPending, peerSecret,
		rulesetInForce, rulesetInfo, rulesetSince, configInForce, configInfo, configSince, reloadErrors, problems, flowsCut,
		dataplaneAge, initiates, reconnects, charonUp, secretErrors, buildInfo,
		ikeCount, ikeStatus, ikeEstablished, ikeRekey, ikeChildren,
		saStatus, saInBytes, saInPackets, saOutBytes, saOutPackets, saEstablished, saRekey,
	} {
		ch <- d
	}
}

// Collect shows the last tick.
func (m Metrics) Collect(ch chan<- prometheus.Metric) {
	c := collection{ch: ch, now: m.loop.Now(), keep: m.loop.Keep}
	c.gauge(buildInfo, 1, m.loop.Version)
	s := m.loop.shown.Load()
	if s == nil || s.gateway.IsZero() {
		return
	}
	c.gateway = []string{s.gateway.Namespace, s.gateway.Name}
	c.totals(s)
	c.dataplane(s)
	for _, p := range s.peers {
		c.peer(s, p)
	}
	if s.ipsec && s.answers {
		c.strongswan(s)
	}
}

// collection is one scrape.
type collection struct {
	ch      chan<- prometheus.Metric
	now     time.Time
	keep    time.Duration
	gateway []string
}

func (c *collection) gauge(d *prometheus.Desc, v float64, labels ...string) {
	c.ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
}

func (c *collection) counter(d *prometheus.Desc, v uint64, labels ...string) {
	c.ch <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(v), labels...)
}

// of puts labels behind those of the gateway.
func (c *collection) of(labels ...string) []string { return append(c.gateway[:2:2], labels...) }

// at is a moment in seconds.
func (c *collection) at(d *prometheus.Desc, t time.Time) {
	if !t.IsZero() {
		c.gauge(d, float64(t.UnixMilli())/1000, c.gateway...)
	}
}

func (c *collection) totals(s *snapshot) {
	c.counter(initiates, s.counts.initiates, c.gateway...)
	c.counter(reconnects, s.counts.reconnects, c.gateway...)
	c.counter(secretErrors, s.secrets, c.gateway...)
	if s.ipsec {
		c.gauge(charonUp, number(s.answers), c.gateway...)
	}
	c.gauge(configInForce, number(!s.inForce.IsZero()), c.gateway...)
	c.at(configSince, s.inForce)
	c.gauge(configInfo, 1, c.of(s.hash)...)
	count := map[string]int{}
	for _, p := range s.problems {
		count[p.Part]++
	}
	c.counter(reloadErrors, s.counts.refusals+s.counts.configErrors, c.of("status")...)
	if s.dataplane != nil {
		c.counter(reloadErrors, s.dataplane.ReloadErrors, c.of("dataplane")...)
		for _, p := range s.dataplane.Problems {
			count[p.Part]++
		}
	}
	for _, part := range parts {
		c.gauge(problems, float64(count[part]), c.of(part)...)
	}
}

// dataplane shows what the other half has published.
func (c *collection) dataplane(s *snapshot) {
	d := s.dataplane
	if d == nil {
		c.gauge(rulesetInForce, 0, c.gateway...)
		return
	}
	c.gauge(rulesetInForce, number(d.Ruleset != ""), c.gateway...)
	c.gauge(dataplaneAge, (s.age + c.now.Sub(s.at)).Seconds(), c.gateway...)
	c.counter(flowsCut, d.FlowsCut, c.gateway...)
	if d.Ruleset != "" {
		c.gauge(rulesetInfo, 1, c.of(d.Ruleset)...)
		c.at(rulesetSince, d.RulesetSince)
	}
}

func (c *collection) peer(s *snapshot, p peerView) {
	labels := c.of(p.Name)
	c.counter(peerReceived, p.BytesIn, labels...)
	c.counter(peerSent, p.BytesOut, labels...)
	c.gauge(peerSecret, number(!p.secret), labels...)
	c.gauge(peerGrants, float64(p.grants[0]), append(labels, "exposure")...)
	c.gauge(peerGrants, float64(p.grants[1]), append(labels, "reverse")...)
	if p.roaming {
		c.gauge(peerRoaming, 1, labels...)
	}
	for _, what := range p.waits {
		c.gauge(peerPending, 1, append(labels, pendingLabel[what])...)
	}
	if !p.LastHandshake.IsZero() {
		c.gauge(peerHandshake, max(0, c.now.Sub(p.LastHandshake).Seconds()), labels...)
	}
	if p.State == vici.Established {
		c.gauge(peerEstablished, c.now.Sub(p.Since).Seconds(), labels...)
	}
	if !p.rekey.IsZero() {
		c.gauge(peerRekey, p.rekey.Sub(c.now).Seconds(), labels...)
	}
	for _, t := range p.tunnels {
		c.tunnel(s, p.Name, t)
	}
}

func (c *collection) tunnel(s *snapshot, peer string, t tunnelView) {
	labels := c.of(peer, t.name)
	c.gauge(tunnelKnown, number(t.known), labels...)
	if seen, ever := s.seen[series{peer, t.name}]; ever && (t.known || c.now.Sub(seen.at) <= c.keep) {
		c.gauge(tunnelUp, number(seen.up), labels...)
	}
	if !t.rekey.IsZero() {
		c.gauge(tunnelRekey, t.rekey.Sub(c.now).Seconds(), labels...)
	}
}

func number(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
