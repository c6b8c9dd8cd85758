package manifest

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"time"

	ipsecv1alpha1 "github.com/vpnctl/vpnctl/crds/ipsec/v1alpha1"
	vpnv1alpha1 "github.com/vpnctl/vpnctl/crds/vpn/v1alpha1"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// Values that a manifest may leave out.
const (
	defaultIKELifetime = 86400 * time.Second
	defaultESPLifetime = 43200 * time.Second
	defaultDPDDelay    = 30 * time.Second
	defaultDPDTimeout  = 150 * time.Second
)

// gateway is a gateway in the making, and where its parts were written.
type gateway struct {
	check
	model   vpn.Gateway
	exposed []exposure
	parties []*party
}

// vpnGateway reads a VPNGateway. Its peers come later.
func vpnGateway(c check, w vpnv1alpha1.VPNGateway) *gateway {
	s := w.Spec
	g := newGateway(c, w.Annotations)
	g.model.Protocol = vpn.Protocol(read(c, "spec.protocol", s.Protocol, one(string(vpn.IPsec), string(vpn.WireGuard))))
	g.endpoint(s.Endpoint, s.ServiceCIDR)
	g.exposed = append(c.exposures(s.Exposures, "spec.exposures", false), c.exposures(s.ReverseExposures, "spec.reverseExposures", true)...)
	g.blocks(s)
	g.longestName()
	if s.HA != nil && s.HA.Enabled {
		c.fail("spec.ha.enabled", refuse("high availability is not supported").with("a gateway has one pod; remove the field"))
	}
	return g
}

// blocks reads the one of spec.ipsec and spec.wireguard that the protocol wants.
func (g *gateway) blocks(s vpnv1alpha1.VPNGatewaySpec) {
	wrong := func(field, what string) {
		g.fail(field, refuse("set, but spec.protocol is %s", g.model.Protocol).with("remove %s or change the protocol", what))
	}
	missing := func(field string) {
		g.fail(field, refuse("required with protocol %s, but missing", g.model.Protocol).with("%s", g.sample(field)))
	}
	switch ipsec := g.model.Protocol == vpn.IPsec; {
	case g.model.Protocol == "":
		return
	case ipsec && s.WireGuard != nil:
		wrong("spec.wireguard", "spec.wireguard")
	case !ipsec && s.IPsec != nil:
		wrong("spec.ipsec", "spec.ipsec")
	}
	switch {
	case g.model.Protocol == vpn.IPsec && s.IPsec == nil:
		missing("spec.ipsec")
	case g.model.Protocol == vpn.IPsec:
		g.model.IKE = g.ike("spec.ipsec.ike", s.IPsec.IKE)
	case s.WireGuard == nil:
		missing("spec.wireguard")
	default:
		g.model.WireGuard = g.wireGuard("spec.wireguard", *s.WireGuard)
	}
}

// ipsecGateway reads an IPsecGateway with its tunnels, each of which is a peer.
// It differs from a VPNGateway in three things, and all of them are data: every
// peer reaches everything, the subnets of a peer share one child SA, and missing
// internal sources are no error.
func ipsecGateway(c check, w ipsecv1alpha1.IPsecGateway) *gateway {
	s := w.Spec
	g := newGateway(c, w.Annotations)
	g.model.Protocol = vpn.IPsec
	g.model.Open = true
	g.model.SourcesOptional = true
	g.endpoint(s.Endpoint, s.ServiceCIDR)
	g.exposed = append(c.exposures(s.Exposures, "spec.exposures", false), c.exposures(s.ReverseExposures, "spec.reverseExposures", true)...)
	g.model.IKE = g.ike("spec.ike", s.IKE)
	g.longestName()
	psk := c.secretRef("spec.auth.pskSecretRef", s.Auth.PSKSecretRef)
	c.limit("spec.tunnels", len(s.Tunnels), vpnv1alpha1.MaxTunnels)
	for i, t := range s.Tunnels {
		base := fmt.Sprintf("spec.tunnels[%d]", i)
		p := &party{check: c, label: "tunnel " + string(t.Name), base: base, block: base, protocol: vpn.IPsec}
		p.model.Name = read(c, base+".name", t.Name, label)
		p.model.Position = c.position(base).String()
		p.ipsec(t.Peer, t.RemoteSubnets, t.ESP, t.Mode)
		p.model.PSK = psk
		p.model.Selectors = vpn.Joined
		g.parties = append(g.parties, p)
	}
	return g
}

func newGateway(c check, annotations map[string]string) *gateway {
	g := &gateway{check: c}
	g.model.Owner = vpn.Owner{Kind: c.kind, Namespace: c.namespace, Name: c.name}
	g.model.Position = c.position("").String()
	g.model.Annotations = kept(annotations)
	g.optIn(annotations)
	return g
}

// endpoint reads where the gateway is reached and which /24 is pinned.
func (g *gateway) endpoint(e vpnv1alpha1.Endpoint, service vpnv1alpha1.ServiceCIDR) {
	g.model.FloatingIPPool = read(g.check, "spec.endpoint.floatingIPPool", e.FloatingIPPool, name)
	g.model.FloatingIP = read(g.check, "spec.endpoint.floatingIP", e.FloatingIP, address)
	g.model.ServiceCIDR = read(g.check, "spec.serviceCIDR", service, serviceCIDR)
	if e.FloatingIP != "" && e.FloatingIPPool != "" {
		g.warn("spec.endpoint.floatingIPPool", refuse("has no effect beside a pinned floatingIP"))
	}
}

// longestName holds the names that are made of the gateway's own to 63
// characters, the length of a DNS label.
func (g *gateway) longestName() {
	suffix := "-swanctl"
	if g.model.Protocol == vpn.WireGuard {
		suffix = "-wireguard"
	}
	if n := len(g.name) + len(suffix); n > 63 && len(g.name) <= 63 {
		g.fail("metadata.name", refuse("too long: %s would have %d characters, and 63 fit", quoted(g.name+suffix), n).
			with("at most %d", 63-len(suffix)))
	}
}

// ike reads the settings that all IPsec peers share.
func (g *gateway) ike(field string, w vpnv1alpha1.IKE) *vpn.IKE {
	if w.Version != 2 {
		g.fail(field+".version", refuse("IKE version %d is not supported; it must be 2", w.Version))
	}
	out := &vpn.IKE{
		Proposals:  g.proposals(field+".proposals", w.Proposals),
		Lifetime:   g.lifetime(field+".lifetime", w.Lifetime, defaultIKELifetime),
		DPDDelay:   defaultDPDDelay,
		DPDTimeout: defaultDPDTimeout,
	}
	if w.DPD != nil {
		out.DPDDelay = g.lifetime(field+".dpd.delay", w.DPD.Delay, defaultDPDDelay)
		out.DPDTimeout = g.lifetime(field+".dpd.timeout", w.DPD.Timeout, defaultDPDTimeout)
		if w.DPD.Timeout != "" {
			g.warn(field+".dpd.timeout", refuse("has no effect: IKEv2 gives a peer up after the retransmissions of one probe"))
		}
	}
	return out
}

func (c check) lifetime(field string, w vpnv1alpha1.Lifetime, otherwise time.Duration) time.Duration {
	if w == "" {
		c.empty(field)
		return otherwise
	}
	return read(c, field, w, lifetime)
}

// proposals keeps the order, which is one of preference.
func (c check) proposals(field string, list []vpnv1alpha1.Proposal) []string {
	c.limit(field, len(list), vpnv1alpha1.MaxProposals)
	var out []string
	for i, p := range list {
		at := fmt.Sprintf("%s[%d]", field, i)
		text := read(c, at, p, proposal)
		switch {
		case p == "":
			c.fail(at, refuse("an empty proposal"))
		case slices.Contains(out, text):
			c.warn(at, refuse("%s is given twice", quoted(text)))
		default:
			out = append(out, text)
		}
	}
	return out
}

// secretRef reads the name of a Secret's key. The Secret is never looked at.
func (c check) secretRef(field string, w vpnv1alpha1.SecretKeyRef) vpn.SecretRef {
	return vpn.SecretRef{
		Name: read(c, field+".name", w.Name, secretName),
		Key:  read(c, field+".key", w.Key, secretKey),
	}
}

func secretName(s string) (string, *refusal) {
	if !patterns.secretName.MatchString(s) || len(s) > 253 {
		return "", refuse("%s is not the name of a Secret", quoted(s)).with("lower-case letters, digits, hyphens and dots")
	}
	return s, nil
}

func secretKey(s string) (string, *refusal) {
	if !patterns.secretKey.MatchString(s) || len(s) > 253 {
		return "", refuse("%s is not a key of a Secret", quoted(s)).with("letters, digits and -_.")
	}
	return s, nil
}

// wireGuard reads the settings of a WireGuard gateway.
func (g *gateway) wireGuard(field string, w vpnv1alpha1.GatewayWireGuard) *vpn.Interface {
	out := &vpn.Interface{
		ListenPort:   int(cmp.Or(w.ListenPort, vpnv1alpha1.DefaultListenPort)),
		PrivateKey:   vpn.SecretRef{Name: g.name + vpn.GeneratedKeySuffix, Key: vpn.GeneratedKey},
		GeneratedKey: w.PrivateKeySecretRef == nil,
	}
	if at := field + ".listenPort"; out.ListenPort < 1 || out.ListenPort > 65535 || w.ListenPort == 0 && g.has(at) {
		g.fail(at, refuse("%d is not a port from 1 to 65535", w.ListenPort))
	}
	if w.PrivateKeySecretRef != nil {
		out.PrivateKey = g.secretRef(field+".privateKeySecretRef", *w.PrivateKeySecretRef)
	}
	out.RoadWarriorCIDR = read(g.check, field+".roadWarriorCIDR", w.RoadWarriorCIDR, canonical)
	if at := field + ".roadWarriorCIDR"; w.RoadWarriorCIDR == "" && g.has(at) {
		g.fail(at, refuse("an empty network").with("remove the field for the default"))
	}
	if p := out.RoadWarriorCIDR; p.IsValid() && (p.Bits() < 24 || p.Bits() > 31) {
		g.fail(field+".roadWarriorCIDR", refuse("%s is a /%d; the range must lie within a /24 and hold addresses", p, p.Bits()))
		out.RoadWarriorCIDR = netip.Prefix{}
	}
	return out
}

// kept drops what tools write about the object itself.
func kept(annotations map[string]string) map[string]string {
	out := make(map[string]string, len(annotations))
	for k, v := range annotations {
		if k != lastApplied {
			out[k] = v
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// lastApplied is where kubectl apply keeps a copy of the whole manifest.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"
