package openstack

import (
	"context"
	"net/http"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/cloud/simulator"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/alloc"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// lab is a simulated cloud and what happens to single calls of it.
type lab struct {
	*simulator.Server
	t     *testing.T
	fault func(n int, r *http.Request) simulator.Fault
}

func newLab(t *testing.T, o simulator.Options) *lab {
	t.Helper()
	l := &lab{t: t}
	o.Keep = simulator.All
	o.Intercept = func(n int, r *http.Request) simulator.Fault {
		if l.fault == nil {
			return simulator.Fault{}
		}
		return l.fault(n, r)
	}
	s, err := simulator.New(o)
	if err != nil {
		t.Fatal(err)
	}
	l.Server = s
	l.defaultGroup()
	return l
}

// defaultGroup has the project's default group made, which the first group of a
// project brings along, so that it is in all snapshots.
func (l *lab) defaultGroup() {
	l.t.Helper()
	d := l.connect("operator")
	var body struct {
		Group group `json:"security_group"`
	}
	_, err := d.call(l.t.Context(), http.MethodPost, groupsPath, map[string]any{"security_group": map[string]any{"name": "first"}}, &body)
	if err == nil {
		err = d.remove(l.t.Context(), groupsPath, body.Group.ID)
	}
	if err != nil {
		l.t.Fatal(err)
	}
	l.Reset()
}

// connect logs in as one of the simulator's clouds. Its clock never waits.
func (l *lab) connect(name string) *Driver {
	l.t.Helper()
	d, err := l.dial(name)
	if err != nil {
		l.t.Fatal(err)
	}
	return d
}

func (l *lab) dial(name string) (*Driver, error) {
	c, err := l.Credentials("http://simulator.invalid", name)
	if err != nil {
		l.t.Fatal(err)
	}
	return Connect(l.t.Context(), Options{
		Env:       func(key string) string { return c.Env[key] },
		Transport: simulator.Transport(l.Server),
		Clock:     hasty(),
	})
}

func hasty() Clock {
	return Clock{Now: time.Now, Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }}
}

// heal ends all faults.
func (l *lab) heal() {
	l.fault = nil
	l.Reset()
}

// snapshot is the cloud without what the server chooses.
func (l *lab) snapshot() string {
	l.t.Helper()
	s, err := l.Snapshot()
	if err != nil {
		l.t.Fatal(err)
	}
	return string(s.Normalize().Bytes())
}

// of are the objects of one kind.
func (l *lab) of(kind string) simulator.Snapshot {
	l.t.Helper()
	s, err := l.Snapshot()
	if err != nil {
		l.t.Fatal(err)
	}
	return s.Of(kind)
}

// reserve takes floating IPs with chosen addresses for the operator's project.
func (l *lab) reserve(addresses ...string) {
	l.t.Helper()
	admin := hand{l, l.connect("operator-admin")}
	pools, err := admin.networksNamed(l.t.Context(), []string{"public"})
	if err != nil {
		l.t.Fatal(err)
	}
	for _, a := range addresses {
		admin.post("floatingip", floatsPath, map[string]any{"floating_network_id": pools[0].ID, "floating_ip_address": a})
	}
}

// node gives the ID of one of the simulated servers.
func (l *lab) node(name string) string {
	l.t.Helper()
	for _, o := range l.of("server") {
		if o.Text("name") == name {
			return o.ID
		}
	}
	l.t.Fatalf("no server %s", name)
	return ""
}

// wish is what a test wants of one gateway.
type wish struct {
	owner  vpn.Owner
	ledger alloc.Ledger
	rules  []resource.Rule
	server string
	pinned netip.Addr
	hash   string
}

func estate(wishes ...wish) vpn.Estate {
	e := vpn.Estate{
		Name:            "prod",
		OpenStack:       vpn.OpenStack{Network: "vpn-transit", Router: "gateway-router", FloatingIPPool: "public"},
		ServiceCIDRPool: netip.MustParsePrefix("100.64.0.0/16"),
	}
	for _, w := range wishes {
		e.Gateways = append(e.Gateways, vpn.Gateway{Owner: w.owner, Protocol: vpn.IPsec, FloatingIP: w.pinned,
			ReverseExposures: []vpn.Exposure{{Name: "erp"}}})
	}
	return e
}

func owner(name string) vpn.Owner {
	return vpn.Owner{Kind: vpn.KindVPNGateway, Namespace: "acme", Name: name}
}

var cidr = netip.MustParsePrefix

// gatewayWish is a gateway with a reverse exposure.
func gatewayWish(name, serviceCIDR, server string) wish {
	return wish{
		owner: owner(name), server: server, hash: "state-1",
		ledger: alloc.Ledger{Estate: "prod", Owner: owner(name), Protocol: vpn.IPsec, ServiceCIDR: cidr(serviceCIDR),
			VirtualIPs: map[string]byte{"web": 10, "erp": 200}, Peers: []string{"plant1"}},
		rules: []resource.Rule{
			{Direction: "egress", Ether: "IPv4"}, {Direction: "egress", Ether: "IPv6"},
			{Direction: "ingress", Ether: "IPv4", Protocol: "udp", From: 500, To: 500, Remote: cidr("198.51.100.20/32"), Why: "peer plant1"},
			{Direction: "ingress", Ether: "IPv4", Protocol: "udp", From: 4500, To: 4500, Remote: cidr("198.51.100.20/32"), Why: "peer plant1"},
			{Direction: "ingress", Ether: "IPv4", Protocol: "tcp", From: 443, To: 443, Remote: cidr("10.254.0.0/24"), Why: "reverse exposure erp"},
		},
	}
}

// desired is what rendering would make of a wish, in build order.
func (w wish) desired(f resource.Facts) []resource.Resource {
	g := f.Gateway(w.owner.String())
	hop, address := resource.Unknown, resource.Unknown
	if g.PortAddress.IsValid() {
		hop = g.PortAddress.String()
	}
	if w.pinned.IsValid() {
		address = w.pinned.String()
	} else if g.FloatingIP.IsValid() {
		address = g.FloatingIP.String()
	}
	rules := slices.Clone(w.rules)
	resource.SortRules(rules)
	all := []resource.Resource{
		{SecurityGroup: &resource.SecurityGroup{Ledger: w.ledger.Entries(), Rules: rules}},
		{Port: &resource.Port{Network: f.NetworkID, Address: hop, Server: w.server, Pairs: []netip.Prefix{w.ledger.ServiceCIDR}}},
		{FloatingIP: &resource.FloatingIP{Pool: "public", Address: address, Port: idOf(resource.KindPort, w.owner),
			Pinned: w.pinned.IsValid() || w.ledger.FloatingIP != ""}},
		{Route: &resource.Route{Router: f.RouterID, RouterName: "gateway-router", Destination: w.ledger.ServiceCIDR, NextHop: hop}},
		{Applied: &resource.Applied{Hash: w.hash}},
	}
	for i, k := range buildOrder {
		all[i].ID, all[i].Owner = idOf(k, w.owner), w.owner.String()
	}
	return all
}

var buildOrder = []resource.Kind{resource.KindSecurityGroup, resource.KindPort, resource.KindFloatingIP, resource.KindRoute, resource.KindApplied}

// differs compares as the planner does, in small.
func differs(have, want resource.Resource) bool {
	switch have.ID.Kind {
	case resource.KindSecurityGroup:
		key := func(rules []resource.Rule) (keys []resource.Rule) {
			for _, r := range rules {
				keys = append(keys, r.Key())
			}
			return keys
		}
		return !slices.Equal(have.SecurityGroup.Ledger, want.SecurityGroup.Ledger) ||
			!slices.Equal(key(have.SecurityGroup.Rules), key(want.SecurityGroup.Rules)) ||
			!have.SecurityGroup.Draining.Equal(want.SecurityGroup.Draining)
	case resource.KindPort:
		h, w := have.Port, want.Port
		return h.Server != w.Server || !slices.Equal(h.Pairs, w.Pairs) || h.Misfit != "" || h.Unguarded || h.Down
	case resource.KindFloatingIP:
		h, w := have.FloatingIP, want.FloatingIP
		return h.Port != w.Port || h.Pinned != w.Pinned || h.Address != w.Address
	case resource.KindRoute:
		h, w := have.Route, want.Route
		return h.Destination != w.Destination || h.NextHop != w.NextHop || len(h.Stale) > 0
	}
	return have.Applied.Hash != want.Applied.Hash
}

// changes are what turns the observed into the desired: first what goes, then
// what comes, kind by kind.
func changes(o *cloud.Observation, wishes []wish) []plan.Change {
	keep := map[resource.ID]bool{}
	var come []plan.Change
	for _, w := range wishes {
		for _, want := range w.desired(o.Facts) {
			have, there := o.Graph[want.ID]
			keep[want.ID] = true
			c := plan.Change{ID: want.ID, Owner: w.owner, After: &want}
			switch {
			case !there || have.CutOff || have.Route != nil && have.Route.NextHop == "":
				c.Action = plan.Create
			case differs(have, want):
				c.Action, c.Before = plan.Update, &have
			default:
				continue
			}
			come = append(come, c)
		}
	}
	var go_ []plan.Change
	for _, id := range o.Graph.IDs() {
		have := o.Graph[id]
		if keep[id] || have.Route != nil && have.Route.NextHop == "" {
			continue
		}
		who, _ := vpn.ParseOwner(have.Owner)
		c := plan.Change{ID: id, Owner: who, Action: plan.Delete, Before: &have}
		if have.FloatingIP != nil && have.FloatingIP.Pinned {
			c.Action = plan.Release
		}
		go_ = append(go_, c)
	}
	removal := []resource.Kind{resource.KindApplied, resource.KindRoute, resource.KindFloatingIP, resource.KindPort, resource.KindSecurityGroup}
	slices.SortStableFunc(go_, func(a, b plan.Change) int {
		return slices.Index(removal, a.ID.Kind) - slices.Index(removal, b.ID.Kind)
	})
	return append(go_, come...)
}

// runWith observes and applies once, rendering again with what it learns. It
// tells how many changes there were to make.
func runWith(ctx context.Context, d *Driver, s cloud.Scope, wishes ...wish) (int, error) {
	o, err := d.Observe(ctx, estate(wishes...), s)
	if err != nil {
		return 0, err
	}
	todo := changes(o, wishes)
	facts := o.Facts
	for _, c := range todo {
		if c.After != nil {
			for _, w := range wishes {
				for _, r := range w.desired(facts) {
					if r.ID == c.ID {
						c.After = &r
					}
				}
			}
		}
		news, err := d.Apply(ctx, c)
		facts = facts.Learn(c.Owner.String(), news)
		if err != nil {
			return len(todo), err
		}
	}
	return len(todo), nil
}

// settle runs until nothing is left to do and fails where that takes more than
// two runs.
func (l *lab) settle(s cloud.Scope, wishes ...wish) {
	l.t.Helper()
	for range 3 {
		n, err := runWith(l.t.Context(), l.connect("operator"), s, wishes...)
		if err != nil {
			l.t.Fatalf("settling: %v", err)
		}
		if n == 0 {
			return
		}
	}
	o, err := l.connect("operator").Observe(l.t.Context(), estate(wishes...), cloud.Scope{Leftovers: true})
	if err != nil {
		l.t.Fatal(err)
	}
	for _, c := range changes(o, wishes) {
		l.t.Errorf("never settles: %s %s", c.Action, c.ID)
	}
}

// hand is another client of the project, and what it does.
type hand struct {
	*lab
	*Driver
}

func (l *lab) hand() hand { return hand{l, l.connect("operator")} }

// do makes a call that has to succeed and returns the ID of what was made.
func (h hand) do(method, path string, body any) string {
	h.t.Helper()
	var answer map[string]map[string]any
	if _, err := h.call(h.t.Context(), method, path, body, &answer); err != nil {
		h.t.Fatalf("%s %s: %v", method, path, err)
	}
	for _, object := range answer {
		if id, ok := object["id"].(string); ok {
			return id
		}
	}
	return ""
}

func (h hand) post(kind, path string, attributes map[string]any) string {
	h.t.Helper()
	return h.do(http.MethodPost, path, map[string]any{kind: attributes})
}

func (h hand) put(kind, path string, attributes map[string]any) {
	h.t.Helper()
	h.do(http.MethodPut, path, map[string]any{kind: attributes})
}

func (h hand) retag(path, id string, tags ...string) {
	h.t.Helper()
	if err := h.tag(h.t.Context(), path, id, tags); err != nil {
		h.t.Fatal(err)
	}
}

// look observes the estate as a fresh driver sees it.
func (l *lab) look(s cloud.Scope, wishes ...wish) *cloud.Observation {
	l.t.Helper()
	o, err := l.connect("operator").Observe(l.t.Context(), estate(wishes...), s)
	if err != nil {
		l.t.Fatal(err)
	}
	return o
}

// facts are where the estate lives.
func (h hand) facts() resource.Facts {
	h.t.Helper()
	f, err := h.Locate(h.t.Context(), estate())
	if err != nil {
		h.t.Fatal(err)
	}
	return f
}
