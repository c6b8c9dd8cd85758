package manifest

import (
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	ipsecv1alpha1 "github.com/vpnctl/vpnctl/crds/ipsec/v1alpha1"
	vpnv1alpha1 "github.com/vpnctl/vpnctl/crds/vpn/v1alpha1"
	"github.com/vpnctl/vpnctl/plan/manifest/decode"
)

// habits are fields as other tools call them, and where they are here. Indices are
// left out of the paths.
var habits = map[string]map[string]string{
	vpnv1alpha1.KindVPNGateway: {
		"spec.floatingIP":                "endpoint.floatingIP",
		"spec.floatingIPPool":            "endpoint.floatingIPPool",
		"spec.ike":                       "ipsec.ike",
		"spec.listenPort":                "wireguard.listenPort",
		"spec.wireguard.port":            "listenPort",
		"spec.wireguard.privateKey":      "privateKeySecretRef",
		"spec.ipsec.proposals":           "ike.proposals",
		"spec.exposures.port":            "target.ports",
		"spec.exposures.ports":           "target.ports",
		"spec.exposures.target.port":     "ports",
		"spec.exposures.target.ip":       "address",
		"spec.exposures.target.hostname": "host",
	},
	vpnv1alpha1.KindVPNPeer: {
		"spec.gateway":                 "gatewayRef",
		"spec.gatewayName":             "gatewayRef",
		"spec.exposures":               "authorization.exposures",
		"spec.reverseExposures":        "authorization.reverseExposures",
		"spec.pskSecretRef":            "ipsec.pskSecretRef",
		"spec.wireguard.allowedIPs":    "subnets",
		"spec.wireguard.remoteSubnets": "subnets",
		"spec.wireguard.pskSecretRef":  "presharedKeySecretRef",
		"spec.wireguard.presharedKey":  "presharedKeySecretRef",
		"spec.wireguard.keepalive":     "persistentKeepalive",
		"spec.ipsec.subnets":           "remoteSubnets",
		"spec.ipsec.allowedIPs":        "remoteSubnets",
		"spec.ipsec.psk":               "pskSecretRef",
		"spec.ipsec.address":           "peer.address",
		"spec.ipsec.id":                "peer.id",
		"spec.ipsec.proposals":         "esp.proposals",
		"spec.ipsec.peer.ip":           "address",
	},
	ipsecv1alpha1.KindIPsecGateway: {
		"spec.ipsec":                     "ike",
		"spec.peers":                     "tunnels",
		"spec.floatingIP":                "endpoint.floatingIP",
		"spec.floatingIPPool":            "endpoint.floatingIPPool",
		"spec.pskSecretRef":              "auth.pskSecretRef",
		"spec.tunnels.subnets":           "remoteSubnets",
		"spec.exposures.target.port":     "ports",
		"spec.exposures.target.ip":       "address",
		"spec.exposures.target.hostname": "host",
	},
}

var (
	indices   = regexp.MustCompile(`\[[0-9]+\]`)
	dashed    = regexp.MustCompile(`^[0-9]+-[0-9]+$`)
	portsItem = regexp.MustCompile(`\.ports\[[0-9]+\]$`)
	digits    = regexp.MustCompile(`^[0-9]+$`)
	durations = map[string]bool{"lifetime": true, "delay": true, "timeout": true}
)

// meant guesses what the author of a field wanted that could not be read, or
// returns "".
func (c check) meant(p decode.Problem) string {
	if p.Message == decode.Missing || p.Message == decode.Empty {
		return c.sample(p.Field)
	}
	v := c.root.Find(p.Field)
	if v == nil {
		return ""
	}
	_, last := parentField(p.Field)
	switch field := habits[c.kind][indices.ReplaceAllString(p.Field, "")]; {
	case field != "" && p.Message == decode.NoSuchField:
		return field + "?"
	case p.Message == decode.NoSuchField && p.Hint == "":
		return misplaced(c.kind, p.Field)
	case durations[last] && v.Kind == decode.Number && digits.MatchString(v.Text):
		return v.Text + "s?"
	case quantity(p.Message):
		return "such as 500m, 2, 64Mi or 1Gi"
	case strings.HasSuffix(last, "SecretRef") && v.Kind == decode.String && patterns.secretName.MatchString(v.Text):
		return last + ": {name: " + v.Text + ", key: " + secretKeys[last] + "}?"
	case last == "patch" && (v.Kind == decode.List || v.Kind == decode.Map):
		return "a patch is a text: write patch: | and the rest below it, indented"
	case last == "gatewayRef" && v.Kind == decode.Map && v.Get("name") != nil:
		return last + ": " + v.Get("name").Text + "?"
	case portsItem.MatchString(p.Field) && v.Kind == decode.String && dashed.MatchString(v.Text):
		return `portRanges: ["` + v.Text + `"]?`
	}
	return ""
}

// quantity tells whether a problem is that of an amount of memory or processors.
func quantity(message string) bool {
	return message == resource.ErrFormatWrong.Error() || message == resource.ErrNumeric.Error() || message == resource.ErrSuffix.Error()
}

// secretKeys are the usual keys of the Secrets that fields name.
var secretKeys = map[string]string{
	"pskSecretRef": "psk", "presharedKeySecretRef": "psk", "privateKeySecretRef": "privateKey",
}
