package reconcile_test

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/cloud/reconcile"
	"github.com/vpnctl/vpnctl/plan/alloc"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

func TestTheLocksAddressIsCheckedInThePlan(t *testing.T) {
	facts := resource.Facts{Subnet: netip.MustParsePrefix("10.9.0.0/24"), SubnetGateway: netip.MustParseAddr("10.9.0.1")}
	for address, want := range map[string]string{
		"10.9.0.7":   "",
		"10.99.99.9": "10.99.99.9 lies outside the transit subnet 10.9.0.0/24",
		"10.9.0.0":   "10.9.0.0 is no host's address in the transit subnet 10.9.0.0/24",
		"10.9.0.255": "10.9.0.255 is no host's address in the transit subnet 10.9.0.0/24",
		"10.9.0.1":   "10.9.0.1 is the gateway of the transit subnet 10.9.0.0/24",
	} {
		e := vpn.Estate{Name: "prod", OpenStack: vpn.OpenStack{LockAddress: netip.MustParseAddr(address)}}
		p := reconcile.Decide(reconcile.Input{Estate: e, Manifests: 1}, &cloud.Observation{Graph: resource.Graph{}, Facts: facts}).Plan
		got := ""
		for _, r := range p.Refusals {
			got += strings.TrimPrefix(r.Message, "spec.openstack.lockAddress: ")
		}
		if got != want {
			t.Errorf("%s: refused %q, want %q", address, got, want)
		}
	}
}

// A service CIDR outside the pool whose pin was taken away is known to the ledger
// alone, and is no place for a service all the same.
func TestAnExposureLeadsToNoGatewaysAddress(t *testing.T) {
	o := vpn.Owner{Kind: vpn.KindVPNGateway, Namespace: "acme", Name: "dc1"}
	ledger := alloc.Ledger{Estate: "prod", Owner: o, Protocol: vpn.IPsec, ServiceCIDR: netip.MustParsePrefix("10.77.0.0/24")}
	for address, want := range map[string]bool{"10.77.0.40": true, "10.78.0.40": false} {
		x := vpn.Exposure{Name: "web", Target: vpn.Target{Address: netip.MustParseAddr(address)}}
		e := vpn.Estate{Name: "prod", ServiceCIDRPool: netip.MustParsePrefix("100.64.0.0/16"),
			Gateways: []vpn.Gateway{{Owner: o, Protocol: vpn.IPsec, IKE: &vpn.IKE{}, Exposures: []vpn.Exposure{x}}}}
		p := reconcile.Decide(reconcile.Input{Estate: e, Manifests: 1},
			&cloud.Observation{Graph: resource.Graph{}, Ledgers: []alloc.Ledger{ledger}}).Plan
		got := false
		for _, r := range p.Refusals {
			got = got || strings.Contains(r.Message, "exposure web leads to "+address+" in 10.77.0.0/24")
		}
		if got != want {
			t.Errorf("%s: refused %t, want %t: %v", address, got, want, p.Refusals)
		}
	}
}
