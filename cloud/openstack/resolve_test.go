package openstack

import (
	"errors"
	"strings"
	"testing"

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
		"no such network":        {vpn.OpenStack{Network: "nope", Router: "gateway-router"}, `network "nope": there is none`},
		"two networks":           {vpn.OpenStack{Network: "twice", Router: "gateway-router"}, `network "twice": 2 have this name, write the ID (`},
		"a network without IPv4": {vpn.OpenStack{Network: "bare", Router: "gateway-router"}, "it has 0 IPv4 subnets"},
		"no such router":         {vpn.OpenStack{Network: "vpn-transit", Router: "nope"}, `router "nope": there is none`},
		"two routers":            {vpn.OpenStack{Network: "vpn-transit", Router: "same"}, `router "same": 2 have this name`},
	} {
		t.Run(name, func(t *testing.T) {
			e := estate()
			c.where.FloatingIPPool = "public"
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

// A pool that no network has the name of stops the address alone.
func TestAPoolThatIsNotThere(t *testing.T) {
	l := newLab(t, simulator.Options{})
	w := gatewayWish("dc1", "100.64.3.0/24", l.node("worker-1"))
	d := l.connect("operator")
	o, err := d.Observe(t.Context(), estate(w), keep)
	if err != nil {
		t.Fatal(err)
	}
	c := change(o, w, resource.KindFloatingIP, "create")
	c.After.FloatingIP.Pool = "nowhere"
	if _, err := d.Apply(t.Context(), c); !errors.Is(err, cloud.ErrUnresolved) || !strings.Contains(err.Error(), `floating IP pool "nowhere": there is none`) {
		t.Errorf("error %v", err)
	}
}

func TestApplyNeedsAnEstate(t *testing.T) {
	l := newLab(t, simulator.Options{})
	_, err := l.connect("operator").Apply(t.Context(), change(&cloud.Observation{}, gatewayWish("dc1", "100.64.3.0/24", ""), resource.KindPort, "create"))
	if err == nil || errors.Is(err, cloud.ErrConflict) {
		t.Errorf("error %v", err)
	}
}
