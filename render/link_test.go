package render

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/plan/alloc"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// crossing is a link into a customer's project.
func crossing() LinkInput {
	owner := vpn.Owner{Kind: vpn.KindClusterLink, Name: "north"}
	cidr := netip.MustParsePrefix("10.60.0.0/16")
	return LinkInput{
		Estate:    vpn.Estate{Name: "prod", OpenStack: vpn.OpenStack{Network: "vpn-transit", Router: "gateway-router"}},
		Link:      vpn.Link{Owner: owner, Router: "theirs", CIDR: cidr, CustomerProject: "p", Credentials: vpn.NamespacedRef{Namespace: "vpn", Name: "clusterlink-north"}},
		Ledger:    alloc.LinkLedger{Estate: "prod", Owner: owner, CIDR: cidr, Customer: "p"},
		Router:    Router{ID: "r1", Name: "theirs"},
		Facts:     resource.Facts{NetworkID: "n1", RouterID: "r0"},
		Customers: "theirs", Operators: "ours",
	}
}

// TestACrossing: the share comes before the leg, whose address the cloud chooses, and each
// says by whose credential it is made.
func TestACrossing(t *testing.T) {
	in := crossing()
	line := func(in LinkInput) []string {
		g, err := Link(in)
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, id := range g.IDs() {
			switch r := g[id]; {
			case r.NetworkShare != nil:
				all = append(all, fmt.Sprintf("share for %s by %s after %v", r.NetworkShare.Project, r.NetworkShare.By, r.Needs))
			case r.TransitLeg != nil:
				all = append(all, fmt.Sprintf("leg %s in %s by %s after %v", r.TransitLeg.Address, r.TransitLeg.Project, r.TransitLeg.By, r.Needs))
			case r.Route != nil:
				all = append(all, fmt.Sprintf("route via %s by %s after %v", r.Route.NextHop, r.Route.By, r.Needs))
			case r.Applied != nil:
				all = append(all, fmt.Sprintf("abandoned %v", r.Applied.Abandoned))
			}
		}
		slices.Sort(all)
		return all
	}
	want := []string{
		"abandoned false",
		"leg (known after apply) in p by theirs after [openstack.security-group/north openstack.network-share/north]",
		"route via (known after apply) by ours after [openstack.transit-leg/north]",
		"share for p by ours after [openstack.security-group/north]",
	}
	if diff := cmp.Diff(want, line(in)); diff != "" {
		t.Errorf("before anything is known (-want +got):\n%s", diff)
	}
	in.Facts = in.Facts.Learn("ClusterLink/north", resource.GatewayFacts{PortAddress: netip.MustParseAddr("10.0.0.9")})
	in.Link.Annotations = map[string]string{"ipsec.bnerd.net/abandon-customer-side": "true"}
	want[0] = "abandoned true"
	want[1] = "leg 10.0.0.9 in p by theirs after [openstack.security-group/north openstack.network-share/north]"
	want[2] = "route via 10.0.0.9 by ours after [openstack.transit-leg/north]"
	if diff := cmp.Diff(want, line(in)); diff != "" {
		t.Errorf("once the leg stands, and may be left behind (-want +got):\n%s", diff)
	}
}

// TestWhatAWayBackIsMadeOf: a router's name, a credential, and whether the router can be
// reached at the moment are no part of the intent, but which router it is.
func TestWhatAWayBackIsMadeOf(t *testing.T) {
	joined := Joined{Link: crossing().Link.Owner, Router: Router{ID: "r1", Name: "theirs"}, By: "theirs"}
	hash := func(edit func(*Joined)) string {
		j := joined
		edit(&j)
		return Hash(Input{Joined: []Joined{j}})
	}
	same := hash(func(*Joined) {})
	for sentence, edit := range map[string]func(*Joined){
		"another name of the router": func(j *Joined) { j.Router.Name = "other" },
		"another credential":         func(j *Joined) { j.By = "other" },
		"out of reach":               func(j *Joined) { j.Apart = true },
	} {
		if hash(edit) != same {
			t.Errorf("%s: another hash", sentence)
		}
	}
	if hash(func(j *Joined) { j.Router.ID = "r2" }) == same {
		t.Error("another router: the same hash")
	}
}
