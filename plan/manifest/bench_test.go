package manifest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/vpnctl/vpnctl/plan/manifest"
)

// estateOf writes n gateways with four peers each.
func estateOf(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `---
apiVersion: vpn.bnerd.net/v1alpha1
kind: VPNGateway
metadata: {name: g%d, namespace: bench}
spec:
  protocol: ipsec
  ipsec: {ike: {version: 2, proposals: [aes256-sha256-ecp256]}}
  exposures:
    - {name: web, target: {address: 10.20.0.1, ports: [443]}}
`, i)
		for j := range 4 {
			fmt.Fprintf(&b, `---
apiVersion: vpn.bnerd.net/v1alpha1
kind: VPNPeer
metadata: {name: g%d-p%d, namespace: bench}
spec:
  gatewayRef: g%d
  ipsec:
    peer: {address: 198.51.100.%d, id: p%d}
    remoteSubnets: [192.168.%d.0/24]
    esp: {proposals: [aes256-sha256-ecp256]}
    pskSecretRef: {name: psk, key: psk}
  authorization: {exposures: [web]}
`, i, j, i, j+1, j, j)
		}
	}
	return b.String() + soundEstate
}

func BenchmarkLoad(b *testing.B) {
	for _, n := range []int{10, 1000} {
		text := estateOf(n)
		b.Run(fmt.Sprintf("%d gateways", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				loaded, found := manifest.Load([]string{"-"}, manifest.Options{Stdin: strings.NewReader(text)})
				if len(found) > 0 || len(loaded.Estate.Gateways) != n {
					b.Fatalf("%d gateways, %d problems", len(loaded.Estate.Gateways), len(found))
				}
			}
		})
	}
}
