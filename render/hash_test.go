package render

import (
	"testing"
	"time"

	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

func TestHashIsTheIntent(t *testing.T) {
	for sentence, c := range map[string]struct {
		change func(*Input)
		same   bool
	}{
		"another floating IP is a fact":              {func(in *Input) { in.Facts = facts(in.Gateway.Owner, resource.GatewayFacts{}) }, true},
		"another network ID is a fact":               {func(in *Input) { in.Facts.NetworkID = "other" }, true},
		"another node is no intent":                  {func(in *Input) { in.Node.Name = "worker-9" }, true},
		"another place of the manifest":              {func(in *Input) { in.Gateway.Position = "b.yaml:2:2" }, true},
		"another place of a peer's manifest":         {func(in *Input) { in.Gateway.Peers[0].Position = "b.yaml:2:2" }, true},
		"another pool changes nothing":               {func(in *Input) { in.Gateway.FloatingIPPool = "other" }, true},
		"another pool of the estate changes nothing": {func(in *Input) { in.Estate.OpenStack.FloatingIPPool = "other" }, true},
		"more gateways on a node":                    {func(in *Input) { in.Estate.Pod.MaxGatewaysPerNode = 99 }, true},
		"another gateway in the estate":              {func(in *Input) { in.Estate.Gateways = []vpn.Gateway{globex().Gateway} }, true},
		"a link that joins the estate":               {func(in *Input) { in.Estate.Links = []vpn.Link{{Router: "north"}} }, true},
		"another cloud of a link":                    {func(in *Input) { in.Estate.OpenStack.Clouds = map[string]string{"south": "customer"} }, true},
		"no links, in so many words":                 {func(in *Input) { in.Gateway.Links = []string{} }, true},
		"another node to choose from":                {func(in *Input) { in.Estate.Kubernetes.Nodes = []vpn.Node{{Name: "x"}} }, true},
		"what was observed of the ledger":            {func(in *Input) { in.Ledger.Ref, in.Ledger.Applied, in.Ledger.Created = "x", "y", time.Unix(1, 0) }, true},

		"a link that may reach it":       {func(in *Input) { in.Gateway.Links = []string{"south"} }, false},
		"another peer address":           {func(in *Input) { in.Gateway.Peers[0].Address = addr("198.51.100.9") }, false},
		"another virtual IP":             {func(in *Input) { in.Ledger.VirtualIPs = map[string]byte{"erp": 10, "web": 12, "scada": 200} }, false},
		"another image":                  {func(in *Input) { in.Estate.Pod.Image = "x" }, false},
		"a wider range of service CIDRs": {func(in *Input) { in.Estate.ServiceCIDRPool = network("100.64.0.0/15") }, false},
		"other internal sources":         {func(in *Input) { in.Estate.InternalSourceCIDRs = nil }, false},
		"another router":                 {func(in *Input) { in.Estate.OpenStack.Router = "other" }, false},
		"a patch":                        {func(in *Input) { in.Estate.Patches = []vpn.Patch{{Patch: "x"}} }, false},
		"another target":                 {func(in *Input) { in.Estate.Kubernetes.Target = vpn.TargetCluster }, false},
		"another folder":                 {func(in *Input) { in.Estate.Kubernetes.Directory = "deploy2" }, false},
		"a label of the manifest":        {func(in *Input) { in.Gateway.Manifests[0].JSON = "{}" }, false},
		"another name of the same":       {func(in *Input) { in.Gateway.Owner.Name = "dc2" }, false},
	} {
		t.Run(sentence, func(t *testing.T) {
			in := copied(t, acme())
			want := Hash(in)
			c.change(&in)
			if same := Hash(in) == want; same != c.same {
				t.Errorf("the hash is the same: %v, want %v", same, c.same)
			}
		})
	}
}

// TestHashInAClusterKnowsLinks: annotations don't count in a cluster, but a link that one
// of them names does.
func TestHashInAClusterKnowsLinks(t *testing.T) {
	in := copied(t, acme())
	in.Estate.Kubernetes.Target = vpn.TargetCluster
	want := Hash(in)
	in.Gateway.Annotations = map[string]string{"ipsec.bnerd.net/cluster-links": "south"}
	if Hash(in) != want {
		t.Error("the annotation's text counts")
	}
	in.Gateway.Links = []string{"south"}
	if Hash(in) == want {
		t.Error("the link doesn't count")
	}
}
