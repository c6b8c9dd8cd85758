package openstack

import (
	"cmp"
	"errors"
	"net/netip"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/cloud/simulator"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

func TestLocate(t *testing.T) {
	l := newLab(t, simulator.Options{})
	h := l.hand()
	f := h.facts()
	h.post("network", "networks", map[string]any{"name": "twice"})
	h.post("network", "networks", map[string]any{"name": "twice"})
	h.post("network", "networks", map[string]any{"name": "bare"})
	h.post("router", routersPath, map[string]any{"name": "same"})
	h.post("router", routersPath, map[string]any{"name": "same"})
	for name, c := range map[string]struct {
		where vpn.OpenStack
		says  string // of the error; empty: it is found
	}{
		"by names":               {vpn.OpenStack{Network: "vpn-transit", Router: "gateway-router"}, ""},
		"by IDs":                 {vpn.OpenStack{Network: f.NetworkID, Router: f.RouterID}, ""},
		"no such network":        {vpn.OpenStack{Network: "nope", Router: "gateway-router"}, `spec.openstack.network: "nope": no network has that name or ID`},
		"two networks":           {vpn.OpenStack{Network: "twice", Router: "gateway-router"}, `spec.openstack.network: "twice": it is the name of 2, write the ID of the network (`},
		"a network without IPv4": {vpn.OpenStack{Network: "bare", Router: "gateway-router"}, `spec.openstack.network: "bare" has 0 IPv4 subnets`},
		"no such router":         {vpn.OpenStack{Network: "vpn-transit", Router: "nope"}, `spec.openstack.router: "nope": no router of this project has that name or ID`},
		"two routers":            {vpn.OpenStack{Network: "vpn-transit", Router: "same"}, `spec.openstack.router: "same": it is the name of 2`},
		"no such pool": {vpn.OpenStack{Network: "vpn-transit", Router: "gateway-router", FloatingIPPool: "publik"},
			`spec.openstack.floatingIPPool: "publik": no external network has that name or ID`},
		"a pool that is not external": {vpn.OpenStack{Network: "vpn-transit", Router: "gateway-router", FloatingIPPool: "vpn-transit"},
			`spec.openstack.floatingIPPool: "vpn-transit": no external network has that name or ID`},
	} {
		t.Run(name, func(t *testing.T) {
			e := estate()
			c.where.FloatingIPPool = cmp.Or(c.where.FloatingIPPool, "public")
			e.OpenStack = c.where
			got, err := l.connect("operator").Locate(t.Context(), e)
			if c.says != "" {
				if err == nil || !strings.Contains(err.Error(), c.says) {
					t.Errorf("error %v, want one that says %s", err, c.says)
				}
				return
			}
			if err != nil || got.NetworkID != f.NetworkID || got.RouterID != f.RouterID || got.Subnet != cidr("10.254.0.0/24") || !got.SubnetGateway.IsValid() {
				t.Errorf("facts %+v, error %v", got, err)
			}
		})
	}
}

// A gateway's own pool is looked up before anything is made, in the same calls.
func TestAPoolThatIsNotThere(t *testing.T) {
	l := newLab(t, simulator.Options{})
	w := gatewayWish("dc1", "100.64.3.0/24", l.node("worker-1"))
	l.reserve("203.0.113.150")
	observe := func(edit func(*vpn.Gateway)) (problems []string, calls int) {
		t.Helper()
		e := estate(w)
		edit(&e.Gateways[0])
		d := l.connect("operator")
		o, err := d.Observe(t.Context(), e, keep)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range o.Problems {
			problems = append(problems, p.Owner.Path()+" "+p.ID.Kind.Short()+": "+p.Message)
		}
		return problems, d.Calls()
	}
	wrong := func(g *vpn.Gateway) { g.FloatingIPPool = "publik" }
	refused := []string{`acme/dc1 floating-ip: spec.endpoint.floatingIPPool: "publik": no external network has that name or ID`}

	_, without := observe(func(*vpn.Gateway) {})
	problems, with := observe(wrong)
	if diff := gocmp.Diff(refused, problems); diff != "" || with != without {
		t.Errorf("%d calls, %d without the pool, problems (-want +got):\n%s", with, without, diff)
	}
	for _, right := range []string{"public", l.of("network").Only(func(o simulator.Object) bool { return o.Text("name") == "public" })[0].ID} {
		if problems, _ := observe(func(g *vpn.Gateway) { g.FloatingIPPool = right }); problems != nil {
			t.Errorf("pool %s: %v", right, problems)
		}
	}
	if problems, _ := observe(func(g *vpn.Gateway) { wrong(g); g.FloatingIP = netip.MustParseAddr("203.0.113.150") }); problems != nil {
		t.Errorf("with a pinned address no pool is needed: %v", problems)
	}
	l.settle(keep, w)
	if problems, _ := observe(wrong); problems != nil {
		t.Errorf("with an address another pool changes nothing: %v", problems)
	}
}

func TestApplyNeedsAnEstate(t *testing.T) {
	l := newLab(t, simulator.Options{})
	_, err := l.connect("operator").Apply(t.Context(), change(&cloud.Observation{}, gatewayWish("dc1", "100.64.3.0/24", ""), resource.KindPort, "create"))
	if err == nil || errors.Is(err, cloud.ErrConflict) {
		t.Errorf("error %v", err)
	}
}
