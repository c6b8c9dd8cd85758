package openstack

import (
	"context"
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

var north = vpn.Owner{Kind: vpn.KindClusterLink, Name: "north"}

// crossing is an operator's driver that reaches the customer's project for one link.
type crossing struct {
	*lab
	*Driver
	revision string
	estate   vpn.Estate
}

func newCrossing(t *testing.T) *crossing {
	t.Helper()
	l := newLab(t, simulator.Options{})
	c := &crossing{lab: l, Driver: l.connect("operator"), revision: "1"}
	theirs, err := l.Credentials("http://simulator.invalid", "customer")
	if err != nil {
		t.Fatal(err)
	}
	c.Driver.customer = func(context.Context, vpn.Link) (Options, error) {
		return Options{Env: func(key string) string { return theirs.Env[key] }, Transport: simulator.Transport(l.Server), Clock: hasty(), Revision: c.revision}, nil
	}
	hand{l, l.connect("customer")}.post("router", routersPath, map[string]any{"name": "north-router"})
	c.estate = estate()
	c.estate.Links = []vpn.Link{{Owner: north, Router: "north-router", CIDR: netip.MustParsePrefix("10.60.0.0/16"), CustomerProject: theirs.ProjectID, Cloud: "customer"}}
	return c
}

func (c *crossing) observe() *cloud.Observation {
	c.t.Helper()
	o, err := c.Observe(c.t.Context(), c.estate, cloud.Scope{})
	if err != nil {
		c.t.Fatal(err)
	}
	return o
}

// keystone counts the calls to Keystone from now on.
func (c *crossing) keystone(do func()) int {
	c.Reset()
	do()
	n := 0
	for _, call := range c.Server.Calls() {
		if call.Keystone() {
			n++
		}
	}
	return n
}

// TestACredentialIsUsedAsLongAsItIsTheSame: a run logs in where there is another one, and
// only then, and what was good and is no more is told.
func TestACredentialIsUsedAsLongAsItIsTheSame(t *testing.T) {
	c := newCrossing(t)
	look := func() { c.observe() }
	for _, step := range []struct {
		revision string
		want     int
	}{{"1", 1}, {"1", 0}, {"2", 1}, {"2", 0}, {"", 1}, {"", 1}} {
		c.revision = step.revision
		if got := c.keystone(look); got != step.want {
			t.Errorf("revision %q: %d logins, want %d", step.revision, got, step.want)
		}
	}
	c.revision = "3"
	c.observe()
	customer := c.across(north)
	c.fault = func(_ int, r *http.Request) simulator.Fault { // the token and the login are refused from now on
		if strings.HasSuffix(r.URL.Path, "/auth/tokens") || r.Header.Get("X-Auth-Token") == customer.neutron.Token() {
			return simulator.Fault{Do: simulator.Fail, Status: http.StatusUnauthorized}
		}
		return simulator.Fault{}
	}
	side := c.observe().Sides[north]
	if side.Fault == nil || side.Fault.Reason != "AuthenticationFailed" {
		t.Errorf("fault %v, want AuthenticationFailed", side.Fault)
	} else if strings.Contains(side.Fault.Message, "\n") {
		t.Errorf("%q is told in more than a line", side.Fault.Message)
	}
	c.heal()
	if side := c.observe().Sides[north]; side.Fault != nil {
		t.Errorf("it works again, but %v", side.Fault)
	}
}

// onTheLedger makes the link's group, as an apply leaves it.
func (c *crossing) onTheLedger(l alloc.LinkLedger) {
	c.t.Helper()
	l.Estate, l.Owner, l.CIDR, l.Customer = "prod", north, c.estate.Links[0].CIDR, c.estate.Links[0].CustomerProject
	own := c.hand()
	id := own.post("security_group", groupsPath, map[string]any{"name": state.Name(north), "description": state.Description("prod", north)})
	own.retag(groupsPath, id, state.LinkTags(l)...)
}

// TestLegsThatAreNone: a leg is one with our tags, in the customer's project, on the transit
// subnet; what is not quite one is refused by its ID, and never taken for one.
func TestLegsThatAreNone(t *testing.T) {
	tags := state.Tags("prod", north)
	for sentence, c := range map[string]struct {
		make func(c *crossing, theirs hand) (id string)
		leg  bool
		want string // the reason or the words of the refusal; empty: there is none
	}{
		"ours, without an interface": {func(c *crossing, theirs hand) string {
			id := theirs.post("port", portsPath, map[string]any{"network_id": c.scene.network.ID})
			theirs.retag(portsPath, id, tags...)
			return id
		}, true, ""},
		"on a network of the customer's own": {func(c *crossing, theirs hand) string {
			network := theirs.post("network", "networks", map[string]any{"name": "own"})
			theirs.post("subnet", "subnets", map[string]any{"network_id": network, "cidr": "10.99.0.0/24", "ip_version": 4})
			id := theirs.post("port", portsPath, map[string]any{"network_id": network})
			theirs.retag(portsPath, id, tags...)
			return id
		}, true, "TransitIPMismatch"},
		"in the operator's project": {func(c *crossing, _ hand) string {
			own := c.hand()
			id := own.post("port", portsPath, map[string]any{"network_id": c.scene.network.ID})
			own.retag(portsPath, id, tags...)
			return id
		}, false, ""},
		"of another link": {func(c *crossing, theirs hand) string {
			id := theirs.post("port", portsPath, map[string]any{"network_id": c.scene.network.ID})
			theirs.retag(portsPath, id, state.Tags("prod", vpn.Owner{Kind: vpn.KindClusterLink, Name: "south"})...)
			return id
		}, false, ""},
		"the ledger's, without its tags": {func(c *crossing, theirs hand) string {
			id := theirs.post("port", portsPath, map[string]any{"network_id": c.scene.network.ID})
			c.onTheLedger(alloc.LinkLedger{Leg: id})
			return id
		}, false, "is the transit leg by the ledger, but lost its tags"},
	} {
		t.Run(sentence, func(t *testing.T) {
			x := newCrossing(t)
			x.observe()
			x.hand().post("rbac_policy", policiesPath, map[string]any{"object_type": "network", "object_id": x.scene.network.ID, "action": asShared, "target_tenant": x.estate.Links[0].CustomerProject})
			id := c.make(x, hand{x.lab, x.lab.connect("customer")})
			o := x.observe()
			leg, found := o.Graph[idOf(resource.KindTransitLeg, north)]
			if found != c.leg || found && leg.Ref != id {
				t.Errorf("leg %+v, want one: %v", leg, c.leg)
			}
			told := slices.ContainsFunc(o.Problems, func(r plan.Refusal) bool {
				return r.Owner == north && (r.Reason == c.want || strings.Contains(r.Message, c.want)) && strings.Contains(r.Message, id)
			})
			if told != (c.want != "") {
				t.Errorf("refused: %+v, want %q", o.Problems, c.want)
			}
		})
	}
}

// TestWhoseAPolicyIs: the ledger alone says which policy is ours.
func TestWhoseAPolicyIs(t *testing.T) {
	type verdict struct{ There, Ours, CutOff bool }
	for sentence, c := range map[string]struct {
		target string // empty: the customer's project; "-": there is no policy
		ledger func(id string) string
		want   verdict
	}{
		"there is none":                     {"-", func(string) string { return "" }, verdict{}},
		"none, and one was being made":      {"-", func(string) string { return alloc.PolicyPending }, verdict{}},
		"the ledger knows it":               {"", func(id string) string { return id }, verdict{There: true, Ours: true}},
		"it was being made":                 {"", func(string) string { return alloc.PolicyPending }, verdict{There: true, Ours: true, CutOff: true}},
		"the ledger knows none":             {"", func(string) string { return "" }, verdict{There: true}},
		"the ledger knows another":          {"", func(string) string { return "another" }, verdict{There: true}},
		"it is for everybody":               {everybody, func(string) string { return "" }, verdict{There: true}},
		"for everybody, while one was made": {everybody, func(string) string { return alloc.PolicyPending }, verdict{There: true}},
		"it is for another project":         {"somebody", func(id string) string { return id }, verdict{}},
	} {
		t.Run(sentence, func(t *testing.T) {
			x := newCrossing(t)
			x.observe()
			target, id := c.target, ""
			if target == "" {
				target = x.estate.Links[0].CustomerProject
			}
			if target != "-" {
				id = hand{x.lab, x.lab.connect("operator-admin")}.post("rbac_policy", policiesPath, map[string]any{"object_type": "network", "object_id": x.scene.network.ID, "action": asShared, "target_tenant": target})
			}
			x.onTheLedger(alloc.LinkLedger{Policy: c.ledger(id)})
			r, there := x.observe().Graph[idOf(resource.KindNetworkShare, north)]
			got := verdict{There: there, Ours: r.Proof != "", CutOff: r.CutOff}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if there && r.NetworkShare.Foreign == got.Ours {
				t.Errorf("foreign %v, proof %q", r.NetworkShare.Foreign, r.Proof)
			}
		})
	}
}

// TestANetworkOfAnotherProjectIsNotShared: only its owner can.
func TestANetworkOfAnotherProjectIsNotShared(t *testing.T) {
	c := newCrossing(t)
	v := &view{manifest: c.estate, scene: scene{network: network{ID: "n", Name: "transit", Project: "somebody"}, router: router{Project: c.project}}}
	v.sides = []*customer{{link: c.estate.Links[0], shown: "cloud customer"}}
	o := judge(v)
	if !slices.ContainsFunc(o.Problems, func(r plan.Refusal) bool { return r.Owner == north && r.Reason == "TransitNetworkNotOwned" }) {
		t.Errorf("problems: %+v", o.Problems)
	}
}
