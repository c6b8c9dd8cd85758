package plan

import (
	"fmt"
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/plan/resource"
)

// crossing is what was made for a link into a customer's project.
func crossing(name, legPort string) []resource.Resource {
	owner := "ClusterLink/" + name
	id := func(k resource.Kind) resource.ID { return resource.ID{Kind: k, Name: name} }
	made := func(k resource.Kind, r resource.Resource) resource.Resource {
		r.ID, r.Owner, r.Proof = id(k), owner, "ours"
		return r
	}
	return []resource.Resource{
		made(resource.KindSecurityGroup, resource.Resource{SecurityGroup: &resource.SecurityGroup{}}),
		made(resource.KindNetworkShare, resource.Resource{Ref: "policy", NetworkShare: &resource.NetworkShare{Network: "n", Project: "p", Users: []string{legPort}}}),
		made(resource.KindTransitLeg, resource.Resource{Ref: legPort, TransitLeg: &resource.TransitLeg{Network: "n", Address: "10.0.0.9", Router: "r-" + name, Project: "p"}}),
		made(resource.KindRoute, resource.Resource{Route: &resource.Route{Router: "own", Destination: netip.MustParsePrefix("10.60.0.0/16"), NextHop: "10.0.0.9"}}),
	}
}

// TestTheEndOfACrossing: leg, route, share, ledger, in that order; and what can't go, or is
// not ours, stays by name.
func TestTheEndOfACrossing(t *testing.T) {
	share := func(edit func(*resource.NetworkShare)) func([]resource.Resource) []resource.Resource {
		return func(all []resource.Resource) []resource.Resource { edit(all[1].NetworkShare); return all }
	}
	for sentence, c := range map[string]struct {
		edit func([]resource.Resource) []resource.Resource
		want []string
	}{
		"all of it": {nil, []string{"delete transit-leg/north", "delete route/north", "delete network-share/north", "delete security-group/north"}},
		"the customer has another port there": {share(func(s *resource.NetworkShare) { s.Users = append(s.Users, "theirs") }), []string{
			"delete transit-leg/north", "delete route/north",
			"delete network-share/north, held: port theirs of project p is still on the network",
			"delete security-group/north, held: waits for openstack.network-share/north, which is held",
		}},
		"another hand shared the network": {func(all []resource.Resource) []resource.Resource {
			all[1].NetworkShare.Foreign, all[1].Proof = true, ""
			return all
		}, []string{"delete transit-leg/north", "delete route/north", "delete security-group/north", "kept network-share/north: added by someone else"}},
		"the customer's side was given up": {func(all []resource.Resource) []resource.Resource {
			all[1].NetworkShare.Left, all[2].TransitLeg.Left = "left there", "left there"
			return all
		}, []string{"delete route/north", "delete security-group/north", "kept network-share/north: left there", "kept transit-leg/north: left there"}},
		"the other link of that customer goes too": {func(all []resource.Resource) []resource.Resource {
			other := crossing("south", "second")
			all[1].NetworkShare.Users = []string{"first", "second"}
			other[1].NetworkShare.Foreign, other[1].Proof = true, ""
			return append(all, other...)
		}, []string{
			"delete transit-leg/north", "delete route/north", "delete transit-leg/south",
			"delete network-share/north", "delete security-group/north", "delete route/south", "delete security-group/south",
			"kept network-share/south: added by someone else",
		}},
	} {
		t.Run(sentence, func(t *testing.T) {
			all := crossing("north", "first")
			if c.edit != nil {
				all = c.edit(all)
			}
			in := Input{Manifests: 1, Observed: resource.Graph{}, Options: Options{Prune: true}}
			in.Observed.Add(all...)
			p := Make(in)
			var got []string
			for _, x := range p.Changes {
				line := fmt.Sprintf("%s %s/%s", x.Action, x.ID.Kind.Short(), x.ID.Name)
				if x.Held != "" {
					line += ", held: " + x.Held
				}
				got = append(got, line)
			}
			for _, k := range p.Kept {
				got = append(got, "kept "+k.ID.Kind.Short()+"/"+k.ID.Name+": "+k.Why)
			}
			if diff := cmp.Diff(c.want, got); diff != "" || len(p.Refusals) > 0 {
				t.Errorf("refusals %+v, changes (-want +got):\n%s", p.Refusals, diff)
			}
		})
	}
}
