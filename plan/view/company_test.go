package view

import (
	"testing"

	"github.com/vpnctl/vpnctl/plan/vpn"
)

// TestCompany counts gateways and links apart.
func TestCompany(t *testing.T) {
	link := vpn.Owner{Kind: vpn.KindClusterLink, Name: "north"}
	for want, all := range map[string][]vpn.Owner{
		"1 gateway": {dc1}, "2 gateways": {dc1, dc1}, "1 link": {link}, "1 gateway and 2 links": {link, dc1, link}, "0 gateways": nil,
	} {
		if got := company(all); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
