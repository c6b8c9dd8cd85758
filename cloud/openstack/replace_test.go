package openstack

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/cloud/simulator"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/resource"
)

// remote takes a floating IP of an external network that no router joins to the
// transit subnet.
func (l *lab) remote() string {
	l.t.Helper()
	admin := hand{l, l.connect("operator-admin")}
	n := admin.post("network", "networks", map[string]any{"name": "elsewhere", "router:external": true})
	admin.post("subnet", "subnets", map[string]any{"network_id": n, "cidr": "192.0.2.0/28", "ip_version": 4, "enable_dhcp": false})
	id := l.hand().post("floatingip", floatsPath, map[string]any{"floating_network_id": n})
	return l.address(id).Text("floating_ip_address")
}

// address is a floating IP by its ID; the zero object where there is none.
func (l *lab) address(id string) simulator.Object {
	l.t.Helper()
	for _, f := range l.of("floating-ip") {
		if f.ID == id {
			return f
		}
	}
	return simulator.Object{}
}

// An address is given up only once the one that takes its place leads to the
// port; where that can't be had the old one is put back, and the ledger says so.
func TestAnAddressIsGivenUpLast(t *testing.T) {
	for name, c := range map[string]struct {
		fault  simulator.Fault // of the first call that associates the new address
		remote bool            // the new address can't be reached from the transit subnet
	}{
		"the new one's network is joined by no router": {remote: true},
		"one conflict":     {fault: simulator.Fault{Do: simulator.Fail, Status: 409, Type: "FloatingIPPortAlreadyAssociated"}},
		"one refusal":      {fault: simulator.Fault{Do: simulator.Fail, Status: 403, Type: "PolicyNotAuthorized"}},
		"one that is gone": {fault: simulator.Fault{Do: simulator.Fail, Status: 404, Type: "FloatingIPNotFound"}},
	} {
		for _, customers := range []bool{false, true} {
			who := ", ours before"
			if customers {
				who = ", the customer's before"
			}
			t.Run(name+who, func(t *testing.T) {
				l := newLab(t, simulator.Options{})
				l.reserve("203.0.113.150", "203.0.113.151")
				w := gatewayWish("dc1", "100.64.3.0/24", l.node("worker-1"))
				if customers {
					w = l.customers("203.0.113.151")
				}
				l.settle(keep, w)
				o := l.look(keep, w)
				old := o.Graph[idOf(resource.KindFloatingIP, w.owner)]
				port := o.Graph[idOf(resource.KindPort, w.owner)].Ref
				next := l.customers("203.0.113.150")
				if c.remote {
					next = l.customers(l.remote())
				}
				before := l.address(old.Ref)

				l.fault = failing(1, func(r *http.Request) bool {
					return r.Method == http.MethodPut && strings.HasSuffix(r.URL.Path, "/floatingips/"+next.ledger.FloatingIP)
				}, c.fault)
				_, err := runWith(t.Context(), l.connect("operator"), keep, next)
				l.heal()
				if err == nil {
					t.Fatal("no error")
				}
				after := l.address(old.Ref)
				if after.Text("port_id") != port || after.Text("description") != before.Text("description") {
					t.Errorf("%v; the old address is now %v", err, after.Attributes)
				}
				if got := l.look(keep, w).Ledgers[0].FloatingIP; got != w.ledger.FloatingIP {
					t.Errorf("the ledger says that %q is the customer's, want %q", got, w.ledger.FloatingIP)
				}
				if c.remote {
					l.settle(keep, w)
					return
				}
				l.settle(keep, next)
				if got := l.address(next.ledger.FloatingIP).Text("port_id"); got != port {
					t.Errorf("in the end the new address leads to %q", got)
				}
			})
		}
	}
}

// The next run finds an old address of ours that a dead run left, and deletes it
// only while the new one leads to the port.
func TestAnAddressOfADeadRunIsGivenUpLast(t *testing.T) {
	for k := 1; ; k++ {
		l, _, w := built(t)
		l.reserve("203.0.113.150")
		old := l.look(keep, w).Graph[idOf(resource.KindFloatingIP, w.owner)].Ref
		port := l.look(keep, w).Graph[idOf(resource.KindPort, w.owner)].Ref
		next := l.customers("203.0.113.150")
		holds := func() bool { return l.address(next.ledger.FloatingIP).Text("port_id") == port }
		d, dead := l.connect("operator"), false
		l.Reset()
		l.fault = func(n int, r *http.Request) simulator.Fault {
			if r.Method == http.MethodDelete && !holds() {
				t.Errorf("dead after call %d: %s %s before the new address holds", k, r.Method, r.URL.Path)
			}
			if n == k {
				dead = true
				return simulator.Fault{Do: simulator.Stop}
			}
			return simulator.Fault{}
		}
		_, _ = runWith(t.Context(), d, keep, next)
		l.heal()
		l.settle(keep, next)
		if !holds() || l.address(old).ID != "" {
			t.Errorf("dead after call %d: holds %v, the old one is %q", k, holds(), l.address(old).ID)
		}
		if !dead {
			return
		}
	}
}

// What another manifest pins is only let go: it is nobody's to delete.
func TestAnAddressThatAnotherWillHaveIsReleased(t *testing.T) {
	l, _, w := built(t)
	l.reserve("203.0.113.150")
	o := l.look(keep, w)
	next := l.customers("203.0.113.150")
	d := l.connect("operator")
	if _, err := d.Observe(t.Context(), estate(next), keep); err != nil {
		t.Fatal(err)
	}
	c := change(o, next, resource.KindFloatingIP, plan.Replace)
	f := *c.Before.FloatingIP
	f.Pinned = true // by another manifest: so the plan says it
	c.Before.FloatingIP = &f
	if _, err := d.Apply(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	left := l.address(c.Before.Ref)
	if left.ID == "" || left.Text("port_id") != "" || left.Text("description") != "" || len(left.Tags()) > 0 {
		t.Errorf("the old address is now %v", left.Attributes)
	}
	if got := l.address(next.ledger.FloatingIP).Text("port_id"); got == "" {
		t.Error("the new address leads nowhere")
	}
}

// An address that is not there, or is another's, changes nothing.
func TestAnAddressThatCannotBeHadMovesNothing(t *testing.T) {
	l, h, w := built(t)
	l.reserve("203.0.113.150")
	next := l.customers("203.0.113.150")
	facts := h.facts()
	lb := h.post("port", portsPath, map[string]any{"network_id": facts.NetworkID, "name": "lb-frontend"})
	h.put("floatingip", floatsPath+"/"+next.ledger.FloatingIP, map[string]any{"port_id": lb})
	before := l.snapshot()
	_, err := runWith(t.Context(), l.connect("operator"), keep, next)
	if !errors.Is(err, cloud.ErrConflict) || !strings.Contains(err.Error(), `held by port "lb-frontend"`) {
		t.Errorf("error %v", err)
	}
	l.settle(keep, w)
	if after := l.snapshot(); after != before {
		t.Error("something was changed")
	}
}

// An address, or a pool, that no router can lead to the transit subnet is refused
// before anything is made, with the networks' names.
func TestWhatCannotReachTheTransitSubnetIsRefused(t *testing.T) {
	pinned := func(l *lab) wish { return l.customers(l.remote()) }
	for name, c := range map[string]struct {
		before bool // the gateway stands, with an address of its own
		wish   func(l *lab) wish
		pool   string
		router map[string]any // what another hand does to the router
		says   string         // empty: it may be done
	}{
		"a pin of a new gateway":     {wish: pinned, says: "can't be associated: router gateway-router has its gateway in network public"},
		"a pin of one that stands":   {before: true, wish: pinned, says: "can't be associated"},
		"a pool":                     {wish: func(l *lab) wish { l.remote(); return newWish(l) }, pool: "elsewhere", says: "a floating IP of pool elsewhere can't be associated"},
		"a pool of one that stands":  {before: true, wish: func(l *lab) wish { l.remote(); return newWish(l) }, pool: "elsewhere"},
		"a router without a gateway": {wish: newWish, router: map[string]any{"external_gateway_info": nil}, says: "router gateway-router has no external gateway"},
		"the pool of the router":     {wish: newWish},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, simulator.Options{})
			if c.before {
				l.settle(keep, newWish(l))
			}
			w := c.wish(l)
			if c.router != nil {
				l.hand().put("router", routersPath+"/"+l.hand().facts().RouterID, c.router)
			}
			e := estate(w)
			e.Gateways[0].FloatingIPPool = c.pool
			o, err := l.connect("operator").Observe(t.Context(), e, keep)
			if err != nil {
				t.Fatal(err)
			}
			said := ""
			for _, p := range o.Problems {
				said += p.Message
			}
			if (c.says == "") != (said == "") || !strings.Contains(said, c.says) {
				t.Errorf("said %q, want %q", said, c.says)
			}
		})
	}
}

func newWish(l *lab) wish { return gatewayWish("dc1", "100.64.3.0/24", l.node("worker-1")) }
