package crds_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/vpnctl/vpnctl/crds/admission"
	vpnv1alpha1 "github.com/vpnctl/vpnctl/crds/vpn/v1alpha1"
)

const (
	ipsecPeer = `{apiVersion: vpn.bnerd.net/v1alpha1, kind: VPNPeer, metadata: {name: plant1},
  spec: {gatewayRef: dc1, ipsec: {peer: {address: 198.51.100.7, id: plant1.example}, remoteSubnets: [192.168.10.0/24],
    esp: {proposals: [aes256-sha256-ecp256]}, pskSecretRef: {name: plant1-psk, key: psk}}}}`
	oldGateway = `{apiVersion: ipsec.bnerd.net/v1alpha1, kind: IPsecGateway, metadata: {name: old},
  spec: {ike: {version: 2, proposals: [aes256-sha256-ecp256]}, auth: {pskSecretRef: {name: psk, key: psk}},
    tunnels: [{name: hq, peer: {address: 192.0.2.17, id: hq.example}, remoteSubnets: [10.80.0.0/16], esp: {proposals: [aes256-sha256-ecp256]}}]}}`
)

// Of the ranges where no host can be reached, an object may hold nothing; of what lies
// beside them, and around them, it may.
func TestSpecialRanges(t *testing.T) {
	addresses := map[string]bool{
		"0.0.0.2": false, "0.255.255.254": false, "1.0.0.2": true, "10.0.0.2": true, "100.64.0.2": true,
		"126.255.255.254": true, "127.0.0.2": false, "127.255.255.254": false, "128.0.0.2": true, "12.7.0.2": true,
		"169.253.255.254": true, "169.254.0.2": false, "169.254.169.254": false, "169.255.0.2": true, "16.9.254.2": true,
		"223.255.255.254": true, "224.0.0.2": false, "239.255.255.254": false, "240.0.0.2": false, "255.255.255.254": false,
		"22.4.0.2": true, "23.9.0.2": true, "24.0.0.2": true, "25.5.0.2": true, "2.24.0.2": true,
	}
	networks := map[string]bool{
		"0.0.0.0/8": false, "0.0.0.0/7": true, "0.1.0.0/16": false, "0.0.0.0/32": false, "10.0.0.0/8": true, "1.0.0.0/24": true,
		"127.0.0.0/8": false, "127.0.0.1/32": false, "126.0.0.0/8": true, "127.0.0.0/24": false, "12.7.0.0/24": true,
		"169.254.0.0/16": false, "169.254.169.0/24": false, "169.254.0.0/15": true, "169.253.0.0/16": true, "169.25.4.0/24": true,
		"224.0.0.0/4": false, "224.0.0.0/3": true, "239.1.0.0/24": false, "240.0.0.0/4": false, "240.0.0.0/9": false,
		"255.255.255.0/24": false, "223.255.255.0/24": true, "22.4.0.0/16": true, "23.0.0.0/8": true, "25.0.0.0/10": true,
	}
	every := func(string) bool { return true }
	server, err := admission.New()
	if err != nil {
		t.Fatal(err)
	}
	for field, c := range map[string]struct {
		object, from, to string
		of               map[string]bool
		keep             func(string) bool
	}{
		"the address of a peer":              {ipsecPeer, "address: 198.51.100.7", "address: %s", addresses, every},
		"a network behind a peer":            {ipsecPeer, "[192.168.10.0/24]", "[%s]", networks, every},
		"the endpoint of a site":             {peer, "publicKey:", "endpoint: '%s:51820', publicKey:", addresses, every},
		"a network behind a site":            {peer, "publicKey:", "subnets: [%s], publicKey:", networks, every},
		"the address of a road warrior":      {peer, "publicKey:", "address: %s, publicKey:", addresses, every},
		"a pinned floating IP":               {gateway, "protocol:", "endpoint: {floatingIP: %s}, protocol:", addresses, every},
		"a target":                           {gateway, "protocol:", "exposures: [{name: web, target: {address: %s}}], protocol:", addresses, every},
		"a target behind a peer":             {gateway, "protocol:", "reverseExposures: [{name: plc, target: {address: %s}}], protocol:", addresses, every},
		"a service CIDR":                     {gateway, "protocol:", "serviceCIDR: %s, protocol:", networks, func(s string) bool { return strings.HasSuffix(s, ".0/24") }},
		"a range for road warriors":          {gateway, "wireguard: {}", "wireguard: {roadWarriorCIDR: %s}", networks, func(s string) bool { return strings.HasSuffix(s, "/24") }},
		"the peer of a tunnel":               {oldGateway, "address: 192.0.2.17", "address: %s", addresses, every},
		"a network behind a tunnel":          {oldGateway, "[10.80.0.0/16]", "[%s]", networks, every},
		"the service CIDR of the older kind": {oldGateway, "ike:", "serviceCIDR: %s, ike:", networks, func(s string) bool { return strings.HasSuffix(s, ".0/24") }},
		"the network of a link":              {link, "10.40.0.0/16", "%s", networks, every},
		"the transit address of a link":      {link, "serviceClusterRouter:", "transitIP: %s, serviceClusterRouter:", addresses, every},
	} {
		t.Run(field, func(t *testing.T) {
			want := map[string]bool{}
			for value, ok := range c.of {
				if c.keep(value) {
					want[value] = ok
				}
			}
			if strings.Count(c.object, c.from) != 1 || len(want) < 5 {
				t.Fatalf("%q is not there once, or %d values are too few", c.from, len(want))
			}
			for value, ok := range want {
				got := server.Check(object(t, strings.Replace(c.object, c.from, fmt.Sprintf(c.to, value), 1)), nil).ToAggregate()
				switch {
				case ok && got != nil:
					t.Errorf("%s is refused: %v", value, got)
				case !ok && got == nil:
					t.Errorf("%s is accepted", value)
				case !ok && !strings.Contains(got.Error(), "can be reached"):
					t.Errorf("%s is refused for another reason: %v", value, got)
				}
			}
		})
	}
}

// A host name is no address, however much it looks like one.
func TestSpecialHostNames(t *testing.T) {
	server, err := admission.New()
	if err != nil {
		t.Fatal(err)
	}
	for _, host := range []string{"127.example.org", "0.pool.example.org", "224-1.example.org"} {
		text := strings.Replace(peer, "publicKey:", "endpoint: '"+host+":51820', publicKey:", 1)
		if errs := server.Check(object(t, text), nil); len(errs) > 0 {
			t.Errorf("%s: %v", host, errs)
		}
	}
}

// What the definitions allow at most costs an API server less than it gives an object.
func TestTheLargestObjectIsAdmitted(t *testing.T) {
	server, err := admission.New()
	if err != nil {
		t.Fatal(err)
	}
	o := object(t, oldGateway)
	spec := o["spec"].(map[string]any)
	var subnets, tunnels []any
	for i := range vpnv1alpha1.MaxSubnets {
		subnets = append(subnets, fmt.Sprintf("172.100.%d.128/25", i))
	}
	for i := range vpnv1alpha1.MaxTunnels {
		tunnel := map[string]any{"name": fmt.Sprintf("t%d", i), "remoteSubnets": subnets}
		for key, value := range spec["tunnels"].([]any)[0].(map[string]any) {
			if tunnel[key] == nil {
				tunnel[key] = value
			}
		}
		tunnels = append(tunnels, tunnel)
	}
	spec["tunnels"] = tunnels
	if errs := server.Check(o, nil); len(errs) > 0 {
		t.Errorf("%d faults, such as %v", len(errs), errs[0])
	}
}
