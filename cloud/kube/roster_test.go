package kube_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/vpnctl/vpnctl/cloud/kube"
	"github.com/vpnctl/vpnctl/cloud/kube/fakeapi"
	"github.com/vpnctl/vpnctl/plan/roster"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

type fields = map[string]any

// manifestOf is one of vpnctl's own objects.
func manifestOf(apiVersion, kind, namespace, name string, spec, status fields) fields {
	o := fields{"apiVersion": apiVersion, "kind": kind, "metadata": fields{"name": name}, "spec": spec}
	if namespace != "" {
		o["metadata"].(fields)["namespace"] = namespace
	}
	if status != nil {
		o["status"] = status
	}
	return o
}

const vpnGroup, ipsecGroup = "vpn.bnerd.net/v1alpha1", "ipsec.bnerd.net/v1alpha1"

// clock is when something was, as the API spells it.
func clock(hour int) string { return fmt.Sprintf("2026-03-01T%02d:00:00Z", hour) }

func at(hour int) time.Time { return time.Date(2026, 3, 1, hour, 0, 0, 0, time.UTC) }

func rosterWorld(t *testing.T) *fakeapi.Server {
	api := fakeapi.New(t, "acme", "globex")
	api.Put(t, manifestOf(vpnGroup, "VPNGateway", "acme", "dc1", fields{"protocol": "wireguard", "wireguard": fields{}}, fields{
		"serviceCIDR": "100.64.3.0/24", "floatingIP": "203.0.113.20", "portFixedIP": "10.0.0.14", "nodeName": "worker-2", "wireguardPublicKey": "key", "peersUp": "1 of 2",
		"virtualIPs": []any{fields{"name": "erp", "ip": "100.64.3.10", "reverse": true}},
		"peers": []any{
			fields{"name": "both", "state": "ESTABLISHED", "up": "1 of 1", "since": clock(3)},
			fields{"name": "gone", "state": "DOWN", "up": "0 of 1", "since": clock(4), "message": "no handshake"},
			fields{"name": "later", "state": "DOWN", "up": "0 of 1", "since": clock(5)},
		},
		"conditions": []any{fields{"type": "Ready", "status": "True", "reason": "Ready", "message": "m", "observedGeneration": int64(1), "lastTransitionTime": clock(2)}},
	}))
	for _, name := range []string{"both", "later", "new"} {
		status := fields{"state": "ESTABLISHED", "up": "1 of 1", "since": clock(3), "lastHandshake": clock(6), "rekeyAt": clock(7), "bytesIn": int64(1), "bytesOut": int64(2)}
		spec := fields{"gatewayRef": "dc1", "wireguard": fields{"publicKey": "k"}}
		switch name {
		case "new":
			status = nil
		case "both":
			spec["wireguard"].(fields)["subnets"] = []any{"10.1.0.0/16"}
		}
		api.Put(t, manifestOf(vpnGroup, "VPNPeer", "acme", name, spec, status))
	}
	api.Put(t, manifestOf(vpnGroup, "VPNPeer", "globex", "lost", fields{"gatewayRef": "dc1"}, nil))
	api.Put(t, manifestOf(ipsecGroup, "IPsecGateway", "acme", "dc1", fields{"tunnels": []any{fields{"name": "z"}, fields{"name": "a"}}}, fields{
		"tunnelsUp": "1 of 2", "tunnels": []any{fields{"name": "z", "state": "ESTABLISHED", "up": "2 of 3", "since": clock(3), "rekeyAt": clock(8), "bytesIn": int64(5)}, fields{"name": "old", "state": "DOWN", "up": "0 of 1"}},
	}))
	api.Put(t, manifestOf(ipsecGroup, "ClusterLink", "", "north", fields{"serviceClusterRouter": "r", "serviceClusterCIDR": "10.40.0.0/16"}, fields{"transitIP": "10.0.0.3"}))
	return api
}

// timeless leaves out when objects were made and written, which is now.
var timeless = cmp.Options{cmpopts.IgnoreFields(roster.Manifest{}, "Created"), cmpopts.IgnoreFields(roster.Report{}, "At"), cmpopts.IgnoreFields(roster.Gateway{}, "Reported")}

func wantedRoster() roster.Cluster {
	figures := roster.Report{State: "ESTABLISHED", Up: 1, Expected: 1, Since: at(3), LastHandshake: at(6), RekeyAt: at(7), In: 1, Out: 2}
	peer := func(name string, generation int64, roams bool, r roster.Report) roster.Peer {
		return roster.Peer{Namespace: "acme", Gateway: "dc1", Name: name, Manifest: roster.Manifest{Generation: generation}, Roams: roams, Report: r}
	}
	return roster.Cluster{
		Gateways: []roster.Gateway{
			{Owner: vpn.Owner{Kind: vpn.KindIPsecGateway, Namespace: "acme", Name: "dc1"}, Manifest: roster.Manifest{Generation: 1}, Protocol: vpn.IPsec, Touched: true, Peers: []roster.Peer{
				peer("z", 0, false, roster.Report{State: "ESTABLISHED", Up: 2, Expected: 3, Since: at(3), RekeyAt: at(8), In: 5}), peer("a", 0, false, roster.Report{}),
				peer("old", 0, false, roster.Report{State: "DOWN", Expected: 1}),
			}},
			{Owner: vpn.Owner{Kind: vpn.KindVPNGateway, Namespace: "acme", Name: "dc1"}, Protocol: vpn.WireGuard, Touched: true, Address: "203.0.113.20", ServiceCIDR: "100.64.3.0/24",
				FixedAddress: "10.0.0.14", Node: "worker-2", PublicKey: "key", VirtualIPs: []roster.VirtualIP{{Name: "erp", IP: "100.64.3.10", Reverse: true}},
				Manifest: roster.Manifest{Generation: 1, Conditions: []roster.Condition{{Type: "Ready", Status: "True", Reason: "Ready", Message: "m", Since: at(2), Generation: 1}}},
				Peers: []roster.Peer{
					peer("both", 1, false, figures),
					peer("gone", 0, false, roster.Report{State: "DOWN", Expected: 1, Since: at(4), Message: "no handshake"}),
					peer("later", 1, true, roster.Report{State: "DOWN", Expected: 1, Since: at(5)}),
					peer("new", 1, true, roster.Report{}),
				}},
		},
		Links:  []roster.Link{{Name: "north", Manifest: roster.Manifest{Generation: 1}, Touched: true, Router: "r", CIDR: "10.40.0.0/16", TransitIP: "10.0.0.3"}},
		Strays: []roster.Peer{{Namespace: "globex", Gateway: "dc1", Name: "lost", Manifest: roster.Manifest{Generation: 1}}},
	}
}

func overFake(t *testing.T, api *fakeapi.Server) *kube.Driver {
	t.Helper()
	d, err := kube.Over(api.Config(), kube.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestRoster: gateways are joined with their peers, by one list of each kind and nothing else.
func TestRoster(t *testing.T) {
	api := rosterWorld(t)
	api.Forget()
	got, err := overFake(t, api).Roster(t.Context(), kube.Which{Links: true})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(wantedRoster(), got, timeless); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	var calls []string
	for _, c := range api.Calls() {
		calls = append(calls, c.Verb+" "+c.Resource)
	}
	slices.Sort(calls)
	if diff := cmp.Diff([]string{"list clusterlinks", "list ipsecgateways", "list vpngateways", "list vpnpeers"}, calls); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	for _, g := range got.Gateways {
		for _, p := range g.Peers {
			if gone := p.Name == "gone" || p.Name == "old"; p.Gone() != gone {
				t.Errorf("%s of %s: gone %v", p.Name, g.Owner, p.Gone())
			}
		}
		if time.Since(g.Reported).Abs() > time.Hour || time.Since(g.Created).Abs() > time.Hour {
			t.Errorf("%s was made at %s and reported at %s", g.Owner, g.Created, g.Reported)
		}
	}
}

// TestRosterOfANamespace reads nothing of others.
func TestRosterOfANamespace(t *testing.T) {
	api := rosterWorld(t)
	api.Deny(func(c fakeapi.Call) bool { return c.Namespace != "globex" })
	got, err := overFake(t, api).Roster(t.Context(), kube.Which{Namespace: "globex"})
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Gateways) != 0 || len(got.Links) != 0 || len(got.Strays) != 1 {
		t.Errorf("it has %+v", got)
	}
}

// TestRosterReportsByFields: when a pod last wrote is known by what it writes, whatever
// others have written since.
func TestRosterReportsByFields(t *testing.T) {
	api := fakeapi.New(t, "acme")
	api.Put(t, manifestOf(vpnGroup, "VPNGateway", "acme", "dc1", fields{"protocol": "ipsec"}, fields{"serviceCIDR": "100.64.3.0/24"}))
	got, err := overFake(t, api).Roster(t.Context(), kube.Which{})
	if err != nil {
		t.Fatal(err)
	}
	if g := got.Gateways[0]; !g.Reported.IsZero() || !g.Touched {
		t.Errorf("a status that no pod has written into: reported %s, touched %v", g.Reported, g.Touched)
	}
}

// TestRosterIncomplete: a list that fails is an error, and never a cluster with less in it.
func TestRosterIncomplete(t *testing.T) {
	for _, resource := range []string{"vpngateways", "vpnpeers", "ipsecgateways"} {
		api := rosterWorld(t)
		api.Deny(func(c fakeapi.Call) bool { return c.Resource == resource })
		got, err := overFake(t, api).Roster(t.Context(), kube.Which{Links: true})
		if err == nil || !strings.Contains(err.Error(), resource) {
			t.Errorf("%s can't be read: %v", resource, err)
		}
		if diff := cmp.Diff(roster.Cluster{}, got); diff != "" {
			t.Errorf("%s can't be read, but there is (-want +got):\n%s", resource, diff)
		}
	}
}

// TestRosterWithoutLinks: a cluster that doesn't know ClusterLinks has none, whoever asks
// for them. Any other kind has to be there.
func TestRosterWithoutLinks(t *testing.T) {
	api := rosterWorld(t)
	unknown := ""
	api.Intercept(func(_ int, c fakeapi.Call) fakeapi.Fault {
		if c.Resource == unknown {
			return fakeapi.Fault{Code: 404}
		}
		return fakeapi.Fault{}
	})
	d := overFake(t, api)
	for _, unknown = range []string{"vpngateways", "vpnpeers", "ipsecgateways"} {
		if _, err := d.Roster(t.Context(), kube.Which{Links: true}); err == nil || !strings.Contains(err.Error(), "install the CRDs") {
			t.Errorf("%s is unknown: %v", unknown, err)
		}
	}
	unknown = "clusterlinks"
	want := wantedRoster()
	want.Links = nil
	got, err := d.Roster(t.Context(), kube.Which{Links: true})
	if diff := cmp.Diff(want, got, timeless); err != nil || diff != "" {
		t.Errorf("error %v (-want +got):\n%s", err, diff)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	select {
	case s := <-d.Follow(ctx, kube.Which{Links: true}):
		if diff := cmp.Diff(want, s.Cluster, timeless); s.Away.Err != nil || diff != "" {
			t.Errorf("followed: away %v (-want +got):\n%s", s.Away.Err, diff)
		}
	case <-time.After(long):
		t.Error("followed: nothing comes")
	}
}

// TestRosterOfWhoMayNotListLinks: an account that may not list links sees all gateways, and why
// there are no links.
func TestRosterOfWhoMayNotListLinks(t *testing.T) {
	api := rosterWorld(t)
	want, err := overFake(t, api).Roster(t.Context(), kube.Which{})
	if err != nil {
		t.Fatal(err)
	}
	api.Deny(func(c fakeapi.Call) bool { return c.Resource == "clusterlinks" })
	got, err := overFake(t, api).Roster(t.Context(), kube.Which{Links: true})
	if err != nil || got.Unseen == nil || !strings.Contains(got.Unseen.Error(), "clusterlinks") {
		t.Fatalf("links can't be seen: %v, %v", got.Unseen, err)
	}
	got.Unseen = nil
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("gateways without links (-want +got):\n%s", diff)
	}
}

// TestFollow: what changes is told, whatever becomes of the connection, and so is a
// cluster that is away.
func TestFollow(t *testing.T) {
	api := rosterWorld(t)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	sights := overFake(t, api).Follow(ctx, kube.Which{Links: true})
	var last kube.Sight
	await := func(sentence string, is func(kube.Sight) bool) {
		t.Helper()
		for late := time.After(long); ; {
			select {
			case s, open := <-sights:
				if !open {
					t.Fatalf("%s: it has ended", sentence)
				}
				if last = s; is(s) {
					return
				}
			case <-late:
				t.Fatalf("%s doesn't come; there is %+v", sentence, last)
			}
		}
	}
	await("all that stands", func(s kube.Sight) bool { return true })
	if diff := cmp.Diff(wantedRoster(), last.Cluster, timeless); diff != "" {
		t.Errorf("at first (-want +got):\n%s", diff)
	}
	node := func(name string) {
		t.Helper()
		u := api.Get("VPNGateway", "acme", "dc1")
		u.Object["status"].(fields)["nodeName"] = name
		api.Put(t, u.Object)
		await("another node", func(s kube.Sight) bool { return s.Away.Err == nil && s.Cluster.Gateways[1].Node == name })
	}
	node("worker-3")
	api.Remove(t, "VPNPeer", "acme", "new")
	await("a peer that goes", func(s kube.Sight) bool { return len(s.Cluster.Gateways[1].Peers) == 3 })
	api.Disconnect()
	node("worker-4")
	api.Expire()
	node("worker-5")
	api.Expire()
	api.Disconnect()
	api.Remove(t, "IPsecGateway", "acme", "dc1")
	await("a gateway that went while nobody watched", func(s kube.Sight) bool { return len(s.Cluster.Gateways) == 1 })
	stop()
	for late := time.After(long); ; {
		select {
		case _, open := <-sights:
			if !open {
				return
			}
		case <-late:
			t.Fatal("it doesn't end")
		}
	}
}

// TestFollowAway: a cluster that doesn't answer is said to be away, since it began, and
// what was known stays; then it is back.
func TestFollowAway(t *testing.T) {
	api := rosterWorld(t)
	var gone atomic.Bool
	api.Intercept(func(int, fakeapi.Call) fakeapi.Fault {
		if gone.Load() {
			return fakeapi.Fault{Code: 503}
		}
		return fakeapi.Fault{}
	})
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	sights := overFake(t, api).Follow(ctx, kube.Which{})
	await := func(away bool) kube.Sight {
		t.Helper()
		for late := time.After(long); ; {
			select {
			case s := <-sights:
				if (s.Away.Err != nil) == away {
					return s
				}
			case <-late:
				t.Fatalf("away is not %v", away)
			}
		}
	}
	first := await(false)
	gone.Store(true)
	began := time.Now()
	api.Disconnect()
	s := await(true)
	if s.Away.Since.Before(began) || s.Away.Since.After(time.Now()) {
		t.Errorf("away since %s, and not since %s", s.Away.Since, began)
	}
	if diff := cmp.Diff(first.Cluster, s.Cluster); diff != "" {
		t.Errorf("what was known (-want +got):\n%s", diff)
	}
	gone.Store(false)
	await(false)
}
