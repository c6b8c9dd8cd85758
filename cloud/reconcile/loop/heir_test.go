package loop_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	vpnv1alpha1 "github.com/vpnctl/vpnctl/crds/vpn/v1alpha1"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// heirOf are a gateway and its peer that pin what another gateway has.
func heirOf(address, cidr string) []vpn.Manifest {
	replaced := strings.NewReplacer("ADDRESS", address, "RANGE", cidr)
	return []vpn.Manifest{
		{Kind: "VPNGateway", Namespace: "initech", Name: "heir", JSON: replaced.Replace(`{"apiVersion":"vpn.bnerd.net/v1alpha1","kind":"VPNGateway",
			"metadata":{"name":"heir","namespace":"initech"},"spec":{"protocol":"ipsec","endpoint":{"floatingIP":"ADDRESS"},"serviceCIDR":"RANGE",
			"ipsec":{"ike":{"version":2,"proposals":["aes256-sha256-ecp256"]}}}}`)},
		{Kind: "VPNPeer", Namespace: "initech", Name: "hq", JSON: `{"apiVersion":"vpn.bnerd.net/v1alpha1","kind":"VPNPeer",
			"metadata":{"name":"hq","namespace":"initech"},"spec":{"gatewayRef":"heir","ipsec":{"peer":{"address":"192.0.2.17","id":"192.0.2.17"},
			"remoteSubnets":["10.80.0.0/16"],"esp":{"proposals":["aes256-sha256-ecp256"]},"pskSecretRef":{"name":"initech-psk","key":"psk"}}}}`},
	}
}

// TestAnHeirPinsAddresses: a gateway that pins the public address and the service CIDR of
// another one waits for that one's end, and then has both.
func TestAnHeirPinsAddresses(t *testing.T) {
	f := newFieldOverAPI(t)
	status := func(kind, name, field string) string {
		text, _, _ := unstructured.NestedString(f.api.Get(kind, "initech", name).Object, "status", field)
		return text
	}
	f.put(manifestsOf(t, "initech/old")...)
	f.turns(2)
	address, cidr := status("IPsecGateway", "old", "floatingIP"), status("IPsecGateway", "old", "serviceCIDR")
	f.put(heirOf(address, cidr)...)
	f.turns(2)
	if got := f.said("VPNGateway", "initech", "heir", vpnv1alpha1.ConditionReady); !strings.HasPrefix(got, "False InvalidSpec: ") {
		t.Errorf("while another one has what it pins: %s", got)
	}
	if got := status("IPsecGateway", "old", "floatingIP"); got != address {
		t.Errorf("the old one's address was %s and is %q", address, got)
	}
	f.api.Remove(t, "IPsecGateway", "initech", "old")
	f.turns(3)
	if f.api.Get("IPsecGateway", "initech", "old") != nil {
		t.Errorf("the old one is still there: %s", f.said("IPsecGateway", "initech", "old", vpnv1alpha1.ConditionReady))
	}
	if a, s := status("VPNGateway", "heir", "floatingIP"), status("VPNGateway", "heir", "serviceCIDR"); a != address || s != cidr {
		t.Errorf("the heir has %s and %s instead of %s and %s: %s", a, s, address, cidr, f.said("VPNGateway", "initech", "heir", vpnv1alpha1.ConditionReady))
	}
}
