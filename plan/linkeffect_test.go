package plan

import (
	"fmt"
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/plan/alloc"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// parting is a link without a manifest, and a gateway on either side of it.
func parting(link []resource.Resource) Input {
	owner := vpn.Owner{Kind: vpn.KindVPNGateway, Namespace: "acme", Name: "dc1"}
	g := vpn.Gateway{Owner: owner, Protocol: vpn.IPsec, Links: []string{"north"}}
	g.Exposures = []vpn.Exposure{
		{Name: "web", Target: vpn.Target{Address: netip.MustParseAddr("10.60.0.10")}},
		{Name: "elsewhere", Target: vpn.Target{Address: netip.MustParseAddr("10.61.0.10")}},
	}
	g.ReverseExposures = []vpn.Exposure{{Name: "plc"}}
	group := resource.Resource{
		ID: resource.ID{Kind: resource.KindSecurityGroup, Namespace: "acme", Name: "dc1"}, Owner: owner.String(), Proof: "ours",
		SecurityGroup: &resource.SecurityGroup{},
	}
	back := resource.Resource{
		ID: resource.ID{Kind: resource.KindRoute, Namespace: "acme", Name: "dc1@r-north"}, Owner: owner.String(), Proof: "ours",
		Route: &resource.Route{Router: "r-north", Destination: netip.MustParsePrefix("100.64.0.0/24"), NextHop: "10.0.0.7"},
	}
	in := Input{Manifests: 1, Desired: resource.Graph{}, Observed: resource.Graph{}, Options: Options{Prune: true}}
	in.Estate.Gateways = []vpn.Gateway{g}
	in.Ledgers = []alloc.Ledger{{Owner: owner, Protocol: vpn.IPsec, Applied: "x"}}
	in.Desired.Add(group)
	for _, r := range link {
		back.Route.By = back.Route.By + body(&r, leg).By
	}
	in.Observed.Add(group, back)
	in.Observed.Add(link...)
	return in
}

// ownLink is a link in our own project.
func ownLink() []resource.Resource {
	all := crossing("north", "first")
	all[0].SecurityGroup.Ledger = []resource.Entry{{Name: "link-cidr", Value: "10.60.0.0/16"}}
	all[2].TransitLeg.Project = ""
	return append(all[:1:1], all[2:]...)
}

// TestTheEndOfALink: what goes first, by whose credential, and who feels it.
func TestTheEndOfALink(t *testing.T) {
	const dead = "customer: nothing reaches acme/dc1/web any more: who calls that must change or stop"
	const back = "delete route/dc1@r-north, reload: nobody behind link north reaches acme/dc1/plc any more"
	theirs := crossing("north", "first")
	theirs[1].NetworkShare.By, theirs[2].TransitLeg.By, theirs[3].Route.By = operators, "the customer's credential, cloud c", operators
	routeless := ownLink()[:2]
	for sentence, c := range map[string]struct {
		link []resource.Resource
		want []string
	}{
		"in our own project the forward route goes first": {ownLink(), []string{
			"delete route/north, " + dead, back, "delete transit-leg/north, " + dead, "delete security-group/north, none: ",
		}},
		"without its route the ledger says where it led": {routeless, []string{
			back, "delete transit-leg/north, " + dead, "delete security-group/north, none: ",
		}},
		"in a customer's project their side goes first": {theirs, []string{
			back + ", by the customer's credential, cloud c",
			"delete transit-leg/north, " + dead + ", by the customer's credential, cloud c",
			"delete route/north, " + dead + ", by the operator's credential",
			"delete network-share/north, none: , by the operator's credential",
			"delete security-group/north, none: , by the operator's credential",
		}},
	} {
		t.Run(sentence, func(t *testing.T) {
			p := Make(parting(c.link))
			var got []string
			for _, x := range p.Changes {
				line := fmt.Sprintf("%s %s/%s, %s: %s", x.Action, x.ID.Kind.Short(), x.ID.Name, x.Impact, x.Consequence)
				if x.Credential != "" {
					line += ", by " + x.Credential
				}
				got = append(got, line)
			}
			if diff := cmp.Diff(c.want, got); diff != "" || len(p.Refusals) > 0 {
				t.Errorf("refusals %+v, changes (-want +got):\n%s", p.Refusals, diff)
			}
		})
	}
}

// TestARefusedUnplugLeavesTheRest: everything of a customer's link needs, in the end, that
// its leg went.
func TestARefusedUnplugLeavesTheRest(t *testing.T) {
	after := map[resource.ID]bool{{Kind: resource.KindTransitLeg, Name: "north"}: true}
	for _, c := range Make(parting(crossing("north", "first"))).Changes {
		for _, id := range c.Needs {
			after[c.ID] = after[c.ID] || after[id]
		}
		if c.Owner.Kind == vpn.KindClusterLink && !after[c.ID] {
			t.Errorf("%s goes although the leg may stay", c.ID)
		}
	}
}

// TestAGatewayThatGoesWaitsForNoLink: what can't be taken from a link keeps no gateway.
func TestAGatewayThatGoesWaitsForNoLink(t *testing.T) {
	in := parting(ownLink())
	in.Estate.Gateways, in.Desired = nil, resource.Graph{}
	forward := resource.ID{Kind: resource.KindRoute, Name: "north"}
	after := map[resource.ID]bool{forward: true}
	gateway := 0
	for _, c := range Make(in).Changes {
		for _, id := range c.Needs {
			after[c.ID] = after[c.ID] || after[id]
		}
		if c.Owner.Gateway() {
			gateway++
		}
		if c.Owner.Gateway() && after[c.ID] {
			t.Errorf("%s waits for %s", c.ID, forward)
		}
	}
	if gateway == 0 {
		t.Error("the gateway stays")
	}
}
