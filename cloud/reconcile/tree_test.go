package reconcile

import (
	"strings"
	"testing"
	"time"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/alloc"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// TestATreeThatLiesElsewhere: a gateway was applied, and no file of the estate is in
// its directory. Its manifest is gone.
func TestATreeThatLiesElsewhere(t *testing.T) {
	dc1 := vpn.Owner{Kind: vpn.KindVPNGateway, Namespace: "acme", Name: "dc1"}
	for sentence, c := range map[string]struct {
		edit            func(*Input, *cloud.Observation)
		warned, refused bool
	}{
		"without prune, nothing is lost":     {func(*Input, *cloud.Observation) {}, true, false},
		"with prune, ports could be":         {prune, true, true},
		"the pods are known to be gone":      {func(in *Input, o *cloud.Observation) { prune(in, o); in.Options.PodsGone = true }, true, false},
		"nobody's manifest is gone":          {func(in *Input, o *cloud.Observation) { prune(in, o); in.Estate.Gateways = []vpn.Gateway{{Owner: dc1}} }, true, false},
		"who is gone is not selected":        {func(in *Input, o *cloud.Observation) { prune(in, o); in.Options.Gateways = []string{"acme/dc9"} }, true, false},
		"who is gone is selected":            {func(in *Input, o *cloud.Observation) { prune(in, o); in.Options.Gateways = []string{"acme/dc1"} }, true, true},
		"the files are there":                {func(in *Input, o *cloud.Observation) { prune(in, o); o.Graph.Add(topmost()) }, false, false},
		"nothing was ever applied":           {func(in *Input, o *cloud.Observation) { prune(in, o); o.Ledgers[0].Applied = "" }, false, false},
		"it drains, so its files were there": {func(in *Input, o *cloud.Observation) { prune(in, o); o.Ledgers[0].Draining = time.Unix(1, 0) }, false, false},
		"a cluster has no files":             {func(in *Input, o *cloud.Observation) { prune(in, o); in.Estate.Kubernetes.Target = vpn.TargetCluster }, false, false},
	} {
		t.Run(sentence, func(t *testing.T) {
			in := Input{Estate: vpn.Estate{Name: "prod", Kubernetes: vpn.Kubernetes{Target: vpn.TargetDirectory, Directory: "deploy2"}}, Manifests: 1}
			seen := &cloud.Observation{Graph: resource.Graph{}, Ledgers: []alloc.Ledger{{Estate: "prod", Owner: dc1, Applied: "hash"}}}
			c.edit(&in, seen)
			p := prepare(in, seen).result().Plan
			const says = "nothing of estate prod stands in deploy2"
			warned, refused := false, false
			for _, n := range p.Notices {
				warned = warned || strings.Contains(n.Message, says)
			}
			for _, r := range p.Refusals {
				refused = refused || r.Owner.IsZero() && strings.Contains(r.Message, says)
			}
			if warned != c.warned || refused != c.refused {
				t.Errorf("warned %t and refused %t, want %t and %t: %v %v", warned, refused, c.warned, c.refused, p.Notices, p.Refusals)
			}
		})
	}
}

func prune(in *Input, _ *cloud.Observation) { in.Options = plan.Options{Prune: true} }

func topmost() resource.Resource {
	return resource.Resource{ID: resource.ID{Kind: resource.KindKustomization, Name: resource.TreeRoot}, Object: &resource.Object{Kind: "Kustomization"}}
}
