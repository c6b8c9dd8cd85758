package plan

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/plan/vpn"
)

// TestSelects: whoever is named is all that a run is about, be it a gateway or a link.
func TestSelects(t *testing.T) {
	gateway, older := vpn.Owner{Kind: vpn.KindVPNGateway, Namespace: "acme", Name: "dc1"}, vpn.Owner{Kind: vpn.KindIPsecGateway, Namespace: "acme", Name: "old"}
	link := vpn.Owner{Kind: vpn.KindClusterLink, Name: "north"}
	for name, test := range map[string]struct {
		options Options
		want    []bool // the gateway, the older one, the link
	}{
		"nobody is named":             {Options{}, []bool{true, true, true}},
		"a gateway":                   {Options{Gateways: []string{"acme/dc1"}}, []bool{true, false, false}},
		"an older one":                {Options{Gateways: []string{"acme/old"}}, []bool{false, true, false}},
		"a link":                      {Options{Links: []string{"north"}}, []bool{false, false, true}},
		"both":                        {Options{Gateways: []string{"acme/dc1"}, Links: []string{"north"}}, []bool{true, false, true}},
		"a link's name as a gateway":  {Options{Gateways: []string{"north"}}, []bool{false, false, false}},
		"a gateway's name as a link":  {Options{Links: []string{"acme/dc1"}}, []bool{false, false, false}},
		"a gateway's name without NS": {Options{Links: []string{"dc1"}}, []bool{false, false, false}},
	} {
		got := []bool{test.options.Selects(gateway), test.options.Selects(older), test.options.Selects(link)}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
