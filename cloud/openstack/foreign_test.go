package openstack

import (
	"errors"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/cloud/simulator"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/alloc"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/state"
)

// crowd fills a project with what is not ours and looks like it.
func (l *lab) crowd() {
	h := l.hand()
	f := h.facts()
	name := state.Name(owner("dc1"))
	group := h.post("security_group", groupsPath, map[string]any{"name": name, "description": "by hand"})
	h.post("security_group_rule", rulesPath, map[string]any{"security_group_id": group, "direction": "ingress", "protocol": "udp"})
	h.retag(groupsPath, group, "team=red", "vpn.example/managed=vpnctl")
	port := h.post("port", portsPath, map[string]any{"network_id": f.NetworkID, "name": name, "security_groups": []string{group}})
	h.retag(portsPath, port, "team=red")
	other := h.post("security_group", groupsPath, map[string]any{"name": name, "description": state.Description("other", owner("dc1"))})
	h.retag(groupsPath, other, state.LedgerTags(alloc.Ledger{Estate: "other", Owner: owner("dc1"), Protocol: vpn.IPsec, ServiceCIDR: cidr("100.64.200.0/24")})...)
	hop := h.post("port", portsPath, map[string]any{"network_id": f.NetworkID, "name": name, "fixed_ips": []fixedIP{{Address: "10.254.0.99"}},
		"description": state.Description("other", owner("dc1")), "security_groups": []string{other}})
	h.retag(portsPath, hop, state.Tags("other", owner("dc1"))...)
	o := &cloud.Observation{Facts: f}
	h.route(o, "add_extraroutes", "100.64.200.0/24", "10.254.0.99")
	h.route(o, "add_extraroutes", "192.168.0.0/16", "10.254.0.99")
	pools, err := h.networksNamed(l.t.Context(), []string{"public"})
	if err != nil {
		l.t.Fatal(err)
	}
	h.post("floatingip", floatsPath, map[string]any{"floating_network_id": pools[0].ID, "description": "vpnctl: by hand", "port_id": hop})
	theirs := h.post("floatingip", floatsPath, map[string]any{"floating_network_id": pools[0].ID})
	h.retag(floatsPath, theirs, state.Tags("other", owner("dc1"))...)
}

// A project full of look-alikes is the same after a gateway came, changed and
// went.
func TestOthersAreLeftAlone(t *testing.T) {
	l := newLab(t, simulator.Options{})
	l.crowd()
	before := l.snapshot()
	for _, p := range passages()[:3] {
		l.settle(prune, p.to(l)...)
	}
	if diff := cmp.Diff(before, l.snapshot()); diff != "" {
		t.Errorf("(-before +after):\n%s", diff)
	}
}

// What other hands put onto the gateway's own objects outlives a change of it.
func TestForeignPartsAreKept(t *testing.T) {
	l, h, w := built(t)
	o := l.look(keep, w)
	group, port := o.Graph[idOf(resource.KindSecurityGroup, w.owner)].Ref, o.Graph[idOf(resource.KindPort, w.owner)].Ref
	extra := h.post("security_group", groupsPath, map[string]any{"name": "monitoring"})
	h.post("security_group_rule", rulesPath, map[string]any{"security_group_id": group, "direction": "ingress", "protocol": "tcp", "port_range_min": 22, "port_range_max": 22})
	h.put("port", portsPath+"/"+port, map[string]any{"security_groups": []string{group, extra},
		"allowed_address_pairs": []pair{{Address: "100.64.3.0/24"}, {Address: "10.9.9.9/32"}}})
	h.retag(portsPath, port, append(state.Tags("prod", w.owner), "team=red")...)
	h.retag(groupsPath, group, append(state.LedgerTags(o.Ledgers[0]), "team=red")...)

	changed := passages()[1].to(l)[0]
	l.settle(prune, changed)

	o = l.look(keep, changed)
	g, p := o.Graph[idOf(resource.KindSecurityGroup, w.owner)], o.Graph[idOf(resource.KindPort, w.owner)]
	if len(g.SecurityGroup.Foreign) != 1 {
		t.Errorf("foreign rules %v, want the one that was added", g.SecurityGroup.Foreign)
	}
	if !slices.Equal(p.Port.Foreign, []string{"10.9.9.9/32"}) || !slices.Equal(p.Port.ForeignGroups, []string{extra}) {
		t.Errorf("foreign on the port: pairs %v, groups %v, want the ones that were added", p.Port.Foreign, p.Port.ForeignGroups)
	}
	if want := []netip.Prefix{cidr("100.64.9.0/24")}; !slices.Equal(p.Port.Pairs, want) {
		t.Errorf("pairs %v, want %v", p.Port.Pairs, want)
	}
	for _, kind := range []string{"security-group", "port"} {
		tagged := l.of(kind).Only(func(o simulator.Object) bool { return slices.Contains(o.Tags(), "team=red") })
		if len(tagged) != 1 {
			t.Errorf("%d objects of kind %s kept the tag of another hand, want 1", len(tagged), kind)
		}
	}
}

// Changes that meet what is not as planned are refused as conflicts, name what
// they met, and change nothing.
func TestConflictsAreNamed(t *testing.T) {
	group, port, float, route := resource.KindSecurityGroup, resource.KindPort, resource.KindFloatingIP, resource.KindRoute
	for name, c := range map[string]struct {
		do     func(h hand, o *cloud.Observation)
		kind   resource.Kind
		action plan.Action
		says   string
	}{
		"an untagged group that is in use": {
			func(h hand, o *cloud.Observation) { h.retag(groupsPath, o.Graph[idOf(group, owner("dc1"))].Ref) }, group, plan.Create, "lost its tags"},
		"an untagged group that no port is in, with rules": {
			func(h hand, o *cloud.Observation) {
				h.do(http.MethodDelete, portsPath+"/"+o.Graph[idOf(port, owner("dc1"))].Ref, nil)
				h.retag(groupsPath, o.Graph[idOf(group, owner("dc1"))].Ref)
			}, group, plan.Create, "lost its tags"},
		"an untagged port that is in use": {
			func(h hand, o *cloud.Observation) { h.retag(portsPath, o.Graph[idOf(port, owner("dc1"))].Ref) }, port, plan.Create, "lost its tags"},
		"an untagged address that is in use": {
			func(h hand, o *cloud.Observation) { h.retag(floatsPath, o.Graph[idOf(float, owner("dc1"))].Ref) }, float, plan.Create, "lost its tags"},
		"a group that another estate has now": {
			func(h hand, o *cloud.Observation) {
				h.retag(groupsPath, o.Graph[idOf(group, owner("dc1"))].Ref, state.Tags("other", owner("dc1"))...)
			}, group, plan.Update, "tags"},
		"a group that another hand retagged, to be deleted": {
			func(h hand, o *cloud.Observation) {
				h.retag(groupsPath, o.Graph[idOf(group, owner("dc1"))].Ref, state.Tags("prod", owner("dc2"))...)
			}, group, plan.Delete, "does not carry the tags of VPNGateway/acme/dc1"},
		"a port that another hand retagged": {
			func(h hand, o *cloud.Observation) {
				h.retag(portsPath, o.Graph[idOf(port, owner("dc1"))].Ref, state.Tags("other", owner("dc1"))...)
			}, port, plan.Update, "does not carry the tags of VPNGateway/acme/dc1"},
		"a port that another hand retagged, to be deleted": {
			func(h hand, o *cloud.Observation) {
				h.retag(portsPath, o.Graph[idOf(port, owner("dc1"))].Ref, state.Tags("other", owner("dc1"))...)
			}, port, plan.Delete, "does not carry the tags of VPNGateway/acme/dc1"},
		"a port that lost its tags, to be deleted": {
			func(h hand, o *cloud.Observation) { h.retag(portsPath, o.Graph[idOf(port, owner("dc1"))].Ref) },
			port, plan.Delete, "does not carry the tags of VPNGateway/acme/dc1"},
		"an address that another hand retagged, to be deleted": {
			func(h hand, o *cloud.Observation) {
				h.retag(floatsPath, o.Graph[idOf(float, owner("dc1"))].Ref, state.Tags("prod", owner("dc2"))...)
			}, float, plan.Delete, "does not carry the tags of VPNGateway/acme/dc1"},
		"a port that is gone": {
			func(h hand, o *cloud.Observation) {
				h.do(http.MethodDelete, portsPath+"/"+o.Graph[idOf(port, owner("dc1"))].Ref, nil)
			}, port, plan.Update, "does not exist"},
		"a group that a port is in": {
			func(hand, *cloud.Observation) {}, group, plan.Delete, `port "vpnctl-acme-dc1" is in it`},
		"an address that another port holds": {
			func(h hand, o *cloud.Observation) {
				p := h.post("port", portsPath, map[string]any{"network_id": o.Facts.NetworkID, "name": "lb-frontend"})
				h.put("floatingip", floatsPath+"/"+o.Graph[idOf(float, owner("dc1"))].Ref, map[string]any{"port_id": p})
			}, float, plan.Update, `held by port "lb-frontend" (not ours)`},
		"an address of ours that another port holds, to be deleted": {
			func(h hand, o *cloud.Observation) {
				p := h.post("port", portsPath, map[string]any{"network_id": o.Facts.NetworkID, "name": "lb-frontend"})
				h.put("floatingip", floatsPath+"/"+o.Graph[idOf(float, owner("dc1"))].Ref, map[string]any{"port_id": p})
			}, float, plan.Delete, `held by port "lb-frontend" (not ours)`},
		"a route with a foreign next hop": {
			func(h hand, o *cloud.Observation) {
				h.route(o, "remove_extraroutes", "100.64.3.0/24", o.Graph[idOf(route, owner("dc1"))].Route.NextHop)
				h.route(o, "add_extraroutes", "100.64.3.0/24", "10.254.0.88")
			}, route, plan.Create, "10.254.0.88, which is not ours"},
		"a port that somebody attached elsewhere": {
			func(h hand, o *cloud.Observation) {
				h.put("port", portsPath+"/"+o.Graph[idOf(port, owner("dc1"))].Ref, map[string]any{"device_id": "11111111-2222-3333-4444-555555555555", "device_owner": "compute:nova"})
			}, port, plan.Update, "is attached to 11111111"},
	} {
		t.Run(name, func(t *testing.T) {
			l, h, w := built(t)
			o := l.look(keep, w)
			c.do(h, o)
			before := l.snapshot()
			d := l.connect("operator")
			if _, err := d.Observe(t.Context(), estate(w), keep); err != nil {
				t.Fatal(err)
			}
			_, err := d.Apply(t.Context(), change(o, w, c.kind, c.action))
			if !errors.Is(err, cloud.ErrConflict) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("error %v, want a conflict that says %q", err, c.says)
			}
			if diff := cmp.Diff(before, l.snapshot()); diff != "" {
				t.Errorf("something was changed (-before +after):\n%s", diff)
			}
		})
	}
}

// A port that is on a server which nobody planned keeps its pairs as well.
func TestAConflictIsFoundBeforeAnythingIsWritten(t *testing.T) {
	l, h, w := built(t)
	o, err := h.Observe(t.Context(), estate(w), keep)
	if err != nil {
		t.Fatal(err)
	}
	ref := o.Graph[idOf(resource.KindPort, w.owner)].Ref
	h.put("port", portsPath+"/"+ref, map[string]any{"device_id": "11111111-2222-3333-4444-555555555555", "device_owner": "compute:nova"})
	before := l.snapshot()
	moved := gatewayWish("dc1", "100.64.9.0/24", w.server)
	_, err = h.Apply(t.Context(), change(o, moved, resource.KindPort, plan.Update))
	if !errors.Is(err, cloud.ErrConflict) {
		t.Errorf("error %v, want a conflict", err)
	}
	if diff := cmp.Diff(before, l.snapshot()); diff != "" {
		t.Errorf("something was changed (-before +after):\n%s", diff)
	}
}

func TestAPortIsPutBackIntoItsGroup(t *testing.T) {
	_, h, w := built(t)
	o, err := h.Observe(t.Context(), estate(w), keep)
	if err != nil {
		t.Fatal(err)
	}
	ref := o.Graph[idOf(resource.KindPort, w.owner)].Ref
	other := h.post("security_group", groupsPath, map[string]any{"name": "monitoring"})
	h.put("port", portsPath+"/"+ref, map[string]any{"security_groups": []string{other}})
	if _, err := h.Apply(t.Context(), change(o, w, resource.KindPort, plan.Update)); err != nil {
		t.Fatal(err)
	}
	p, _, err := read[port](t.Context(), h.Driver, portsPath, ref)
	want := []string{other, o.Graph[idOf(resource.KindSecurityGroup, w.owner)].Ref}
	slices.Sort(want)
	if slices.Sort(p.Groups); err != nil || !slices.Equal(p.Groups, want) {
		t.Errorf("in %v, want %v, error %v", p.Groups, want, err)
	}
}

// change is the change of one resource of a gateway, as a plan would have it.
func change(o *cloud.Observation, w wish, k resource.Kind, a plan.Action) plan.Change {
	c := plan.Change{ID: idOf(k, w.owner), Owner: w.owner, Action: a}
	if have, ok := o.Graph[c.ID]; ok && a != plan.Create {
		c.Before = &have
	}
	for _, want := range w.desired(o.Facts) {
		if want.ID == c.ID && a != plan.Delete && a != plan.Release {
			c.After = &want
		}
	}
	return c
}
