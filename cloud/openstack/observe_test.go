package openstack

import (
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/cloud/simulator"
	"github.com/vpnctl/vpnctl/plan/alloc"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/state"
)

// one gateway, built, and another client beside it.
func built(t *testing.T) (*lab, hand, wish) {
	t.Helper()
	l := newLab(t, simulator.Options{})
	w := gatewayWish("dc1", "100.64.3.0/24", l.node("worker-1"))
	l.settle(keep, w)
	return l, l.hand(), w
}

func TestObserveWhatApplyMade(t *testing.T) {
	l, _, w := built(t)
	o := l.look(keep, w)
	got := resource.Graph{}
	for id, r := range o.Graph {
		r.Ref, r.Proof = "", ""
		if r.Port != nil {
			r.Port.Groups = nil
		}
		if r.FloatingIP != nil {
			r.FloatingIP.Pool = "public"
		}
		got[id] = r
	}
	want := resource.Graph{}
	want.Add(w.desired(o.Facts)...)
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b netip.Prefix) bool { return a == b })); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	facts := o.Facts.Gateway(w.owner.String())
	if facts.PortID == "" || facts.MAC == "" || facts.ServerID != w.server || !facts.FloatingIP.IsValid() || !o.Facts.Subnet.Contains(facts.PortAddress) {
		t.Errorf("facts %+v", facts)
	}
	if len(o.Ledgers) != 1 || o.Ledgers[0].Ref == "" || o.Ledgers[0].Created.IsZero() {
		t.Errorf("ledgers %+v", o.Ledgers)
	}
	if len(o.Problems)+len(o.Notices) > 0 {
		t.Errorf("problems %v, notices %v", o.Problems, o.Notices)
	}
}

// What other hands did to one gateway, and what is then observed of it.
func TestObserveOtherHands(t *testing.T) {
	group, port, float, route := resource.KindSecurityGroup, resource.KindPort, resource.KindFloatingIP, resource.KindRoute
	for name, c := range map[string]struct {
		do   func(h hand, o *cloud.Observation)
		want func(o *cloud.Observation, w wish) any // what is looked at
		is   any
	}{
		"a rule without our description is foreign": {
			func(h hand, o *cloud.Observation) {
				h.post("security_group_rule", rulesPath, map[string]any{"security_group_id": o.Graph[idOf(group, owner("dc1"))].Ref,
					"direction": "ingress", "protocol": "6", "port_range_min": 22, "port_range_max": 22, "remote_ip_prefix": "10.1.2.3"})
			},
			func(o *cloud.Observation, w wish) any {
				return fmt.Sprint(o.Graph[idOf(group, w.owner)].SecurityGroup.Foreign)
			},
			"[ingress tcp 22 10.1.2.3/32]",
		},
		"a rule for a group is foreign whatever it is called": {
			func(h hand, o *cloud.Observation) {
				id := o.Graph[idOf(group, owner("dc1"))].Ref
				h.post("security_group_rule", rulesPath, map[string]any{"security_group_id": id, "direction": "ingress",
					"remote_group_id": id, "description": state.RuleDescription("peer plant1")})
			},
			func(o *cloud.Observation, w wish) any {
				g := o.Graph[idOf(group, w.owner)].SecurityGroup
				return []int{len(g.Foreign), len(g.Rules)}
			},
			[]int{1, 5},
		},
		"every address pair but the service CIDR is foreign, whatever it looks like": {
			func(h hand, o *cloud.Observation) {
				h.route(o, "add_extraroutes", "192.168.10.0/24", o.Graph[idOf(route, owner("dc1"))].Route.NextHop)
				h.put("port", portsPath+"/"+o.Graph[idOf(port, owner("dc1"))].Ref, map[string]any{"allowed_address_pairs": []pair{
					{Address: "100.64.3.0/24"}, {Address: "10.9.9.9"}, {Address: "100.64.77.0/24"}, {Address: "100.64.0.50"}, {Address: "100.64.3.9"},
					{Address: "100.64.3.0/25"}, {Address: "192.168.10.0/24"}, {Address: "100.64.3.0/24", MAC: "fa:16:3e:00:00:99"}}})
			},
			func(o *cloud.Observation, w wish) any {
				p := o.Graph[idOf(port, w.owner)].Port
				return fmt.Sprint(p.Pairs, p.Foreign, p.Misfit)
			},
			"[100.64.3.0/24] [10.9.9.9 100.64.0.50 100.64.3.0/24 100.64.3.0/25 100.64.3.9 100.64.77.0/24 192.168.10.0/24]",
		},
		"a pair of the range that the gateway moves from is ours": {
			func(h hand, o *cloud.Observation) {
				h.moves(o, "192.168.10.0/24")
				h.put("port", portsPath+"/"+o.Graph[idOf(port, owner("dc1"))].Ref, map[string]any{"allowed_address_pairs": []pair{
					{Address: "192.168.10.0/24"}, {Address: "192.168.11.0/24"}}})
			},
			func(o *cloud.Observation, w wish) any {
				p := o.Graph[idOf(port, w.owner)].Port
				return fmt.Sprint(p.Pairs, p.Foreign)
			},
			"[192.168.10.0/24] [192.168.11.0/24]",
		},
		"another group on the port is foreign, its own missing is a misfit": {
			func(h hand, o *cloud.Observation) {
				h.put("port", portsPath+"/"+o.Graph[idOf(port, owner("dc1"))].Ref, map[string]any{"security_groups": []string{}})
			},
			func(o *cloud.Observation, w wish) any { return o.Graph[idOf(port, w.owner)].Port.Misfit },
			"the gateway's security group is missing",
		},
		"a port whose security was switched off, which takes its groups and pairs away": {
			func(h hand, o *cloud.Observation) { h.strip(o.Graph[idOf(port, owner("dc1"))].Ref) },
			func(o *cloud.Observation, w wish) any {
				p := o.Graph[idOf(port, w.owner)].Port
				return fmt.Sprint(p.Unguarded, p.Down, p.Pairs, p.Misfit)
			},
			"true false []the gateway's security group is missing",
		},
		"a port that was set down": {
			func(h hand, o *cloud.Observation) {
				h.put("port", portsPath+"/"+o.Graph[idOf(port, owner("dc1"))].Ref, map[string]any{"admin_state_up": false})
			},
			func(o *cloud.Observation, w wish) any {
				p := o.Graph[idOf(port, w.owner)].Port
				return []bool{p.Unguarded, p.Down}
			},
			[]bool{false, true},
		},
		"an address held by another port of the project: by its name": {
			func(h hand, o *cloud.Observation) {
				p := h.post("port", portsPath, map[string]any{"network_id": o.Facts.NetworkID, "name": "lb-frontend"})
				h.put("floatingip", floatsPath+"/"+o.Graph[idOf(float, owner("dc1"))].Ref, map[string]any{"port_id": p})
			},
			func(o *cloud.Observation, w wish) any { return o.Graph[idOf(float, w.owner)].FloatingIP.Holder },
			`port "lb-frontend" (not ours)`,
		},
		"an address held by our port that lost its tags": {
			func(h hand, o *cloud.Observation) { h.retag(portsPath, o.Graph[idOf(port, owner("dc1"))].Ref) },
			func(o *cloud.Observation, w wish) any {
				holder := o.Graph[idOf(float, w.owner)].FloatingIP.Holder
				return holder[strings.Index(holder, ","):]
			},
			", which has the description of acme/dc1, but lost its tags",
		},
		"a detached port has no server": {
			func(h hand, o *cloud.Observation) {
				h.do(http.MethodPut, portsPath+"/"+o.Graph[idOf(port, owner("dc1"))].Ref, map[string]any{"port": map[string]any{"device_id": "", "device_owner": ""}})
			},
			func(o *cloud.Observation, w wish) any { return o.Graph[idOf(port, w.owner)].Port.Server },
			"",
		},
		"an address of ours that another port holds": {
			func(h hand, o *cloud.Observation) {
				p := h.post("port", portsPath, map[string]any{"network_id": o.Facts.NetworkID, "name": "lb-frontend"})
				h.put("floatingip", floatsPath+"/"+o.Graph[idOf(float, owner("dc1"))].Ref, map[string]any{"port_id": p})
			},
			func(o *cloud.Observation, w wish) any {
				f := o.Graph[idOf(float, w.owner)].FloatingIP
				return fmt.Sprint(f.Port.IsZero(), " ", f.Pinned)
			},
			"true false",
		},
		"a next hop that no port holds is stale": {
			func(h hand, o *cloud.Observation) {
				h.route(o, "add_extraroutes", "100.64.3.0/24", "10.254.0.77")
			},
			func(o *cloud.Observation, w wish) any { return o.Graph[idOf(route, w.owner)].Route.Stale },
			[]string{"10.254.0.77"},
		},
		"a next hop that another port holds is foreign": {
			func(h hand, o *cloud.Observation) {
				h.post("port", portsPath, map[string]any{"network_id": o.Facts.NetworkID, "fixed_ips": []fixedIP{{Address: "10.254.0.88"}}})
				h.route(o, "add_extraroutes", "100.64.3.0/24", "10.254.0.88")
			},
			func(o *cloud.Observation, w wish) any { return o.Graph[idOf(route, w.owner)].Route.Foreign },
			[]string{"10.254.0.88"},
		},
		"a route of others alone is in the way": {
			func(h hand, o *cloud.Observation) {
				h.post("port", portsPath, map[string]any{"network_id": o.Facts.NetworkID, "fixed_ips": []fixedIP{{Address: "10.254.0.88"}}})
				h.route(o, "remove_extraroutes", "100.64.3.0/24", o.Graph[idOf(route, owner("dc1"))].Route.NextHop)
				h.route(o, "add_extraroutes", "100.64.3.0/24", "10.254.0.88")
			},
			func(o *cloud.Observation, w wish) any {
				r := o.Graph[idOf(route, w.owner)]
				return fmt.Sprint(r.Proof, r.Route.NextHop, r.Route.Foreign)
			},
			"[10.254.0.88]",
		},
		"a route in the pool is a claim": {
			func(h hand, o *cloud.Observation) {
				h.post("port", portsPath, map[string]any{"network_id": o.Facts.NetworkID, "fixed_ips": []fixedIP{{Address: "10.254.0.88"}}})
				h.route(o, "add_extraroutes", "100.64.7.0/25", "10.254.0.88")
				h.route(o, "add_extraroutes", "0.0.0.0/0", "10.254.0.88")
			},
			func(o *cloud.Observation, w wish) any { return inWords(inPool(o)) },
			[]string{"100.64.7.0/25: route on router gateway-router via 10.254.0.88"},
		},
		"a route to a range that the gateway moves from is its own, and next hops that nobody holds are stale": {
			func(h hand, o *cloud.Observation) {
				h.moves(o, "192.168.10.0/24")
				h.post("port", portsPath, map[string]any{"network_id": o.Facts.NetworkID, "fixed_ips": []fixedIP{{Address: "10.254.0.88"}}})
				for _, hop := range []string{o.Graph[idOf(route, owner("dc1"))].Route.NextHop, "10.254.0.77", "10.254.0.88"} {
					h.route(o, "add_extraroutes", "192.168.10.0/24", hop)
				}
			},
			func(o *cloud.Observation, w wish) any {
				r := o.Graph[second(route, w.owner, o.Facts.RouterID+":192.168.10.0/24")]
				return fmt.Sprint(r.Proof, ": ", r.Route.NextHop == o.Graph[idOf(route, w.owner)].Route.NextHop, r.Route.Stale, r.Route.Foreign)
			},
			"next hop is the gateway's port: true [10.254.0.77] [10.254.0.88]",
		},
		"a route of others to a part of the range is foreign": {
			func(h hand, o *cloud.Observation) {
				h.post("port", portsPath, map[string]any{"network_id": o.Facts.NetworkID, "fixed_ips": []fixedIP{{Address: "10.254.0.88"}}})
				h.route(o, "add_extraroutes", "100.64.3.200/32", "10.254.0.88")
				h.route(o, "add_extraroutes", "100.64.0.0/16", "10.254.0.88")
			},
			func(o *cloud.Observation, w wish) any {
				var all []string
				for _, id := range o.Graph.IDs() {
					if r := o.Graph[id]; id.Kind == route && id != idOf(route, w.owner) {
						all = append(all, fmt.Sprint(r.Owner, r.Route.Destination, r.Route.NextHop, r.Route.Foreign, r.Proof))
					}
				}
				return all
			},
			[]string{"VPNGateway/acme/dc1100.64.3.200/32[10.254.0.88]"},
		},
		"routes through the gateway's port to anywhere else are foreign": {
			func(h hand, o *cloud.Observation) {
				for _, to := range []string{"192.168.0.0/16", "192.168.10.0/24", "100.64.77.0/24"} {
					h.route(o, "add_extraroutes", to, o.Graph[idOf(route, owner("dc1"))].Route.NextHop)
				}
			},
			func(o *cloud.Observation, w wish) any {
				var all []string
				for _, id := range o.Graph.IDs() {
					if r := o.Graph[id]; id.Kind == route && id != idOf(route, w.owner) {
						all = append(all, fmt.Sprint(r.Route.Destination, r.Route.NextHop, r.Route.Stale, len(r.Route.Foreign), r.Proof))
					}
				}
				return all
			},
			[]string{"100.64.77.0/24[] 1", "192.168.0.0/16[] 1", "192.168.10.0/24[] 1"},
		},
		"another estate's ledger is a claim and nothing else": {
			func(h hand, o *cloud.Observation) {
				id := h.post("security_group", groupsPath, map[string]any{"name": "x"})
				h.retag(groupsPath, id, state.LedgerTags(alloc.Ledger{Estate: "other", Owner: owner("dc1"), Protocol: vpn.IPsec, ServiceCIDR: cidr("100.64.50.0/24")})...)
			},
			func(o *cloud.Observation, w wish) any { return inWords(inPool(o), len(o.Ledgers)) },
			[]string{"100.64.50.0/24: estate other: acme/dc1", "1"},
		},
		"a ledger that can't be read is a problem and a claim": {
			func(h hand, o *cloud.Observation) {
				h.retag(groupsPath, o.Graph[idOf(group, owner("dc1"))].Ref, append(state.LedgerTags(o.Ledgers[0]), state.Prefix+"future=1")...)
			},
			func(o *cloud.Observation, w wish) any { return []int{len(o.Ledgers), len(o.Problems), len(inPool(o))} },
			[]int{0, 1, 1},
		},
		"the younger of two groups goes": {
			func(h hand, o *cloud.Observation) {
				id := h.post("security_group", groupsPath, map[string]any{"name": "zz"})
				h.retag(groupsPath, id, state.LedgerTags(o.Ledgers[0])...)
			},
			func(o *cloud.Observation, w wish) any {
				seconds := 0
				for id := range o.Graph {
					if strings.Contains(id.Name, "@") {
						seconds++
					}
				}
				return []int{seconds, len(o.Ledgers), len(o.Problems)}
			},
			[]int{1, 1, 0},
		},
	} {
		t.Run(name, func(t *testing.T) {
			l, h, w := built(t)
			c.do(h, l.look(keep, w))
			if diff := cmp.Diff(c.is, c.want(l.look(prune, w), w)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// inPool are the claims on the estate's pool.
func inPool(o *cloud.Observation) []alloc.Claim {
	return slices.DeleteFunc(slices.Clone(o.Claims), func(c alloc.Claim) bool { return !estate().ServiceCIDRPool.Overlaps(c.Prefix) })
}

// inWords are claims as a person reads them, and what stands beside them.
func inWords(claims []alloc.Claim, beside ...any) []string {
	var all []string
	for _, c := range claims {
		all = append(all, c.Prefix.String()+": "+c.By)
	}
	for _, x := range beside {
		all = append(all, fmt.Sprint(x))
	}
	return all
}

// moves has the gateway's ledger say that it moves from a range.
func (h hand) moves(o *cloud.Observation, from string) {
	h.t.Helper()
	l := o.Ledgers[0]
	l.MovingFrom = []netip.Prefix{cidr(from)}
	h.retag(groupsPath, l.Ref, state.LedgerTags(l)...)
}

// route adds or removes one route on the estate's router.
func (h hand) route(o *cloud.Observation, verb, to, via string) {
	h.t.Helper()
	h.do(http.MethodPut, routersPath+"/"+o.Facts.RouterID+"/"+verb, body([]hop{{to, via}}))
}

// Observing costs the same calls for two gateways as for many.
func TestObserveCountsItsCalls(t *testing.T) {
	count := func(gateways int) int {
		l := newLab(t, simulator.Options{Seed: simulator.Seed{SubnetCIDR: "10.240.0.0/16", FloatingIPCIDR: "203.0.0.0/16"}, RouteLimit: 1000,
			Quota: map[string]int{"port": 1000, "security_group": 1000, "security_group_rule": 10000, "floatingip": 1000}})
		var wishes []wish
		for i := range gateways {
			wishes = append(wishes, gatewayWish(fmt.Sprintf("dc%03d", i), fmt.Sprintf("100.64.%d.0/24", i), l.node("worker-1")))
		}
		d := l.connect("operator")
		if _, err := runWith(t.Context(), d, keep, wishes...); err != nil {
			t.Fatal(err)
		}
		before := d.Calls()
		if _, err := d.Observe(t.Context(), estate(wishes...), prune); err != nil {
			t.Fatal(err)
		}
		return d.Calls() - before
	}
	few, many := count(2), count(120)
	t.Logf("%d calls for 2 gateways, %d for 120", few, many)
	if few != many || many > 15 {
		t.Errorf("observing 2 gateways took %d calls, 120 took %d; want the same, at most 15", few, many)
	}
}

// A list that fails, or holds no list, is never a shorter list.
func TestObserveIsWholeOrAnError(t *testing.T) {
	l, _, w := built(t)
	for _, path := range []string{"/v2.0/security-groups", "/v2.0/ports", "/v2.0/floatingips", "/v2.0/routers", "/v2.0/networks", "/v2.0/subnets"} {
		for _, status := range []int{400, 403, 404, 500, 503} {
			d := l.connect("operator")
			l.fault = func(_ int, r *http.Request) simulator.Fault {
				if strings.HasSuffix(r.URL.Path, path) {
					return simulator.Fault{Do: simulator.Fail, Status: status}
				}
				return simulator.Fault{}
			}
			if _, err := d.Observe(t.Context(), estate(w), keep); err == nil {
				t.Errorf("%s answered %d and nobody noticed", path, status)
			}
			l.heal()
		}
	}
}

// The time is the cloud's, whatever the clock here shows.
func TestObserveTellsTheTimeOfTheCloud(t *testing.T) {
	at := time.Date(2031, 2, 3, 4, 5, 6, 0, time.UTC)
	l := newLab(t, simulator.Options{Clock: func() time.Time { return at }})
	if got := l.look(keep, newWish(l)).Now; !got.Equal(at) {
		t.Errorf("it is %s, want %s", got, at)
	}
}
