package crds_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"

	vpnv1alpha1 "github.com/vpnctl/vpnctl/crds/vpn/v1alpha1"
)

// at finds the schema of a field; [] stands for the items of a list.
func at(t *testing.T, file, path string) apiextensions.JSONSchemaProps {
	t.Helper()
	s := *definition(t, file).Spec.Validation.OpenAPIV3Schema
	for _, name := range strings.Split(path, ".") {
		list := strings.HasSuffix(name, "[]")
		next, ok := s.Properties[strings.TrimSuffix(name, "[]")]
		if !ok {
			t.Fatalf("%s has no %s", file, path)
		}
		if s = next; list {
			s = *s.Items.Schema
		}
	}
	return s
}

const (
	gateways    = "vpn.bnerd.net_vpngateways.yaml"
	peers       = "vpn.bnerd.net_vpnpeers.yaml"
	oldGateways = "ipsec.bnerd.net_ipsecgateways.yaml"
	links       = "ipsec.bnerd.net_clusterlinks.yaml"
)

// Markers can't name constants; this holds them to the same text.
func TestPatternsAreTheConstants(t *testing.T) {
	for _, c := range []struct{ file, path, want string }{
		{gateways, "spec.exposures[].name", vpnv1alpha1.LabelPattern},
		{gateways, "spec.exposures[].virtualIP", vpnv1alpha1.AutoAddressPattern},
		{gateways, "spec.exposures[].target.host", vpnv1alpha1.HostPattern},
		{gateways, "spec.exposures[].target.address", vpnv1alpha1.AddressPattern},
		{gateways, "spec.exposures[].target.portRanges[]", vpnv1alpha1.PortRangePattern},
		{gateways, "spec.serviceCIDR", vpnv1alpha1.ServiceCIDRPattern},
		{gateways, "spec.ipsec.ike.lifetime", vpnv1alpha1.LifetimePattern},
		{gateways, "spec.wireguard.roadWarriorCIDR", vpnv1alpha1.CIDRPattern},
		{gateways, "spec.endpoint.floatingIP", vpnv1alpha1.AddressPattern},
		{peers, "spec.ipsec.peer.id", vpnv1alpha1.IdentityPattern},
		{peers, "spec.ipsec.remoteSubnets[]", vpnv1alpha1.CIDRPattern},
		{peers, "spec.ipsec.pskSecretRef.name", vpnv1alpha1.SecretNamePattern},
		{peers, "spec.ipsec.pskSecretRef.key", vpnv1alpha1.SecretKeyPattern},
		{peers, "spec.wireguard.publicKey", vpnv1alpha1.KeyPattern},
		{peers, "spec.wireguard.endpoint", vpnv1alpha1.EndpointPattern},
		{oldGateways, "spec.tunnels[].name", vpnv1alpha1.LabelPattern},
		{oldGateways, "spec.tunnels[].peer.id", vpnv1alpha1.IdentityPattern},
		{links, "spec.serviceClusterCIDR", vpnv1alpha1.CIDRPattern},
		{links, "spec.credentialsSecretRef.name", vpnv1alpha1.SecretNamePattern},
	} {
		if got := at(t, c.file, c.path).Pattern; got != c.want {
			t.Errorf("%s: %s: pattern %q, want %q", c.file, c.path, got, c.want)
		}
	}
}

func TestWideIdentityIsTheConstant(t *testing.T) {
	want := fmt.Sprintf("!self.matches('%s')", vpnv1alpha1.WideIdentityPattern)
	for file, path := range map[string]string{peers: "spec.ipsec.peer.id", oldGateways: "spec.tunnels[].peer.id"} {
		if rules := at(t, file, path).XValidations; len(rules) != 1 || rules[0].Rule != want {
			t.Errorf("%s: %s: rules %v, want %q", file, path, rules, want)
		}
	}
}

func TestSpecialRangesAreTheConstants(t *testing.T) {
	no := func(pattern string) string { return fmt.Sprintf("!self.matches('%s')", pattern) }
	address := []string{no(vpnv1alpha1.SpecialAddressPattern)}
	network := []string{no(vpnv1alpha1.LocalNetworkPattern), no(vpnv1alpha1.MulticastNetworkPattern)}
	for _, c := range []struct {
		file, path string
		want       []string
	}{
		{gateways, "spec.exposures[].target.address", address},
		{gateways, "spec.exposures[].virtualIP", address},
		{gateways, "spec.serviceCIDR", network},
		{gateways, "spec.wireguard.roadWarriorCIDR", network},
		{peers, "spec.ipsec.remoteSubnets[]", network},
		{peers, "spec.wireguard.endpoint", []string{"!self.matches('^[0-9.]+:') || " + address[0]}},
		{oldGateways, "spec.tunnels[].remoteSubnets[]", network},
		{links, "spec.transitIP", address},
	} {
		got := map[string]bool{}
		for _, rule := range at(t, c.file, c.path).XValidations {
			got[rule.Rule] = true
		}
		for _, want := range c.want {
			if !got[want] {
				t.Errorf("%s: %s: no rule %q", c.file, c.path, want)
			}
		}
	}
}

func TestProposalsAreTheApprovedOnes(t *testing.T) {
	for _, c := range []struct{ file, path string }{
		{gateways, "spec.ipsec.ike.proposals[]"},
		{peers, "spec.ipsec.esp.proposals[]"},
		{oldGateways, "spec.ike.proposals[]"},
		{oldGateways, "spec.tunnels[].esp.proposals[]"},
	} {
		var got []vpnv1alpha1.Proposal
		for _, v := range at(t, c.file, c.path).Enum {
			text, _ := json.Marshal(v)
			var p vpnv1alpha1.Proposal
			if err := json.Unmarshal(text, &p); err != nil {
				t.Fatal(err)
			}
			got = append(got, p)
		}
		if diff := cmp.Diff(vpnv1alpha1.ApprovedProposals(), got); diff != "" {
			t.Errorf("%s: %s (-want +got)\n%s", c.file, c.path, diff)
		}
	}
}

func TestSizesAreTheConstants(t *testing.T) {
	for _, c := range []struct {
		file, path string
		want       int64
	}{
		{gateways, "spec.exposures", vpnv1alpha1.MaxExposures},
		{gateways, "spec.reverseExposures", vpnv1alpha1.MaxReverseExposures},
		{gateways, "spec.exposures[].target.ports", vpnv1alpha1.MaxPorts},
		{gateways, "spec.exposures[].target.portRanges", vpnv1alpha1.MaxPortRanges},
		{gateways, "spec.ipsec.ike.proposals", vpnv1alpha1.MaxProposals},
		{oldGateways, "spec.exposures", vpnv1alpha1.MaxExposures},
		{oldGateways, "spec.reverseExposures", vpnv1alpha1.MaxReverseExposures},
		{oldGateways, "spec.tunnels", vpnv1alpha1.MaxTunnels},
		{oldGateways, "spec.tunnels[].remoteSubnets", vpnv1alpha1.MaxSubnets},
		{peers, "spec.ipsec.remoteSubnets", vpnv1alpha1.MaxSubnets},
		{peers, "spec.wireguard.subnets", vpnv1alpha1.MaxSubnets},
	} {
		if got := at(t, c.file, c.path).MaxItems; got == nil || *got != c.want {
			t.Errorf("%s: %s: maxItems %v, want %d", c.file, c.path, got, c.want)
		}
	}
	if got := at(t, gateways, "spec.wireguard.listenPort").Default; got == nil || fmt.Sprint(*got) != fmt.Sprint(vpnv1alpha1.DefaultListenPort) {
		t.Errorf("listenPort has default %v", got)
	}
}
