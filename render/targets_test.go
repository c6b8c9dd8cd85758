package render

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

func TestTargetsAreWhatWasRendered(t *testing.T) {
	for _, in := range []Input{acme(), globex(), initech()} {
		want := map[string]vpn.Target{}
		for _, list := range [][]vpn.Exposure{in.Gateway.Exposures, in.Gateway.ReverseExposures} {
			for _, x := range list {
				want[x.Name] = x.Target
			}
		}
		if diff := cmp.Diff(want, Targets(rendered(t, in)), cmpopts.EquateComparable(addr("10.0.0.1"))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", in.Gateway.Owner, diff)
		}
	}
}

func TestTargetsOfWhatCannotBeRead(t *testing.T) {
	g := rendered(t, acme())
	rules, agent := kubernetesID("ConfigMap", "dc1-nat"), kubernetesID("ConfigMap", "dc1-swanctl")
	if got := Targets(resource.Graph{agent: g[agent]}); got != nil {
		t.Errorf("without a ruleset: %v", got)
	}
	broken := g[rules]
	broken.Object = &resource.Object{Kind: "ConfigMap", Content: "data:\n  nat.nft: |\n    flush ruleset\n"}
	if got := Targets(resource.Graph{agent: g[agent], rules: broken}); got != nil {
		t.Errorf("of another ruleset: %v", got)
	}
	if got := Targets(resource.Graph{rules: g[rules]})["erp"]; got.Host != "" || len(got.Ports) != 1 {
		t.Errorf("without agent.json: %v", got)
	}
}
