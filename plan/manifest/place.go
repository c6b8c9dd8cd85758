package manifest

import (
	"slices"
	"strings"
	"sync"

	estatev1alpha1 "github.com/vpnctl/vpnctl/crds/estate/v1alpha1"
	ipsecv1alpha1 "github.com/vpnctl/vpnctl/crds/ipsec/v1alpha1"
	vpnv1alpha1 "github.com/vpnctl/vpnctl/crds/vpn/v1alpha1"
	"github.com/vpnctl/vpnctl/plan/manifest/decode"
)

// places are the fields of each kind that people write. They are looked at only when
// something is wrong.
var places = sync.OnceValue(func() map[string][]decode.Place {
	var d decode.Decoder
	all := map[string][]decode.Place{
		vpnv1alpha1.KindVPNGateway:     d.Places(new(vpnv1alpha1.VPNGateway)),
		vpnv1alpha1.KindVPNPeer:        d.Places(new(vpnv1alpha1.VPNPeer)),
		ipsecv1alpha1.KindIPsecGateway: d.Places(new(ipsecv1alpha1.IPsecGateway)),
		ipsecv1alpha1.KindClusterLink:  d.Places(new(ipsecv1alpha1.ClusterLink)),
		estatev1alpha1.KindEstate:      d.Places(new(estatev1alpha1.Estate)),
	}
	for kind, list := range all {
		all[kind] = slices.DeleteFunc(list, func(p decode.Place) bool { return !within(p.Path, "spec") })
	}
	return all
})

// misplaced says where a field belongs that is known, but not where it was written:
// most often it was indented too far, or not far enough.
func misplaced(kind, field string) string {
	above, name := parentField(indices.ReplaceAllString(field, ""))
	best, depth, twice := "", 0, false
	for _, p := range places()[kind] {
		home, known := parentField(p.Path)
		if known != name || !within(above, home) && !within(home, above) && above != "" {
			continue
		}
		d := strings.Count(home, ".")
		switch {
		case best == "" || d < depth:
			best, depth, twice = home, d, false
		case d == depth:
			twice = true
		}
	}
	if best == "" || twice {
		return ""
	}
	return "it belongs under " + best
}

// parentField splits the last name off a field path.
func parentField(field string) (above, name string) {
	i := strings.LastIndexByte(field, '.')
	return field[:max(i, 0)], field[i+1:]
}

// sample is an example of what a field that is missing may look like, with all that
// is required below it; empty where an example says nothing.
func (c check) sample(field string) string {
	field = indices.ReplaceAllString(field, "")
	_, name := parentField(field)
	value := c.sampleValue(field)
	if value == "" || name == "name" || name == "namespace" {
		return ""
	}
	return "such as " + name + ": " + value
}

func (c check) sampleValue(field string) string {
	_, name := parentField(field)
	text, list := strings.ReplaceAll(samples[name], "NAME", c.name), false
	var parts []string
	for _, p := range places()[c.kind] {
		list = list || p.Path == field && p.List
		if above, inner := parentField(p.Path); above == field && (p.Required || chosen[c.kind] == p.Path) {
			parts = append(parts, inner+": "+c.sampleValue(p.Path))
		}
	}
	if text == "" && len(parts) > 0 {
		text = "{" + strings.Join(parts, ", ") + "}"
	}
	if list && text != "" {
		text = "[" + text + "]"
	}
	return text
}

// chosen are blocks that one choice of several needs, and which an example takes.
var chosen = map[string]string{
	vpnv1alpha1.KindVPNGateway: "spec.ipsec",
	vpnv1alpha1.KindVPNPeer:    "spec.ipsec",
}

// samples are values of required fields. NAME is the object's own name.
var samples = map[string]string{
	"protocol": "ipsec", "version": "2", "proposals": "aes256gcm16-prfsha384-ecp384",
	"wireguard": "{}", "publicKey": `"44 characters, as wg pubkey prints them"`,
	"gatewayRef": "dc1", "address": "198.51.100.7", "id": "fw.example.com", "remoteSubnets": "192.168.10.0/24",
	"name": "plant1", "key": "psk", "target": "{address: 10.20.0.15, ports: [443]}",
	"pskSecretRef": "{name: NAME-psk, key: psk}",
	"network":      "vpn-transit", "router": "gateway-router", "floatingIPPool": "public",
	"nodes": "{name: worker-1, serverID: c3f0ea92-3c32-4141-bf59-214fe50dcac9}", "serverID": "c3f0ea92-3c32-4141-bf59-214fe50dcac9",
	"serviceClusterRouter": "customer-router", "serviceClusterCIDR": "10.40.0.0/16", "namespace": "default",
	"link": "north", "cloud": "customer-north",
}
