//go:build e2e

package openstack

import (
	"context"
	"net/http"
	"net/netip"
	"os"
	"testing"
	"time"

	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/state"
)

// real logs in to the services that OS_CLIENT_CONFIG_FILE and OS_CLOUD name,
// where the lab has its network, router, pool and nodes.
func real(t *testing.T) *Driver {
	t.Helper()
	if os.Getenv("OS_CLIENT_CONFIG_FILE") == "" {
		t.Fatal("OS_CLIENT_CONFIG_FILE names no cloud: start the lab")
	}
	d, err := Connect(t.Context(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func (d *Driver) servers(t *testing.T) map[string]string {
	t.Helper()
	var body struct {
		Servers []struct{ ID, Name string }
	}
	if _, err := send(t.Context(), d.compute, http.MethodGet, d.compute.ServiceURL("servers"), nil, &body); err != nil {
		t.Fatal(err)
	}
	ids := map[string]string{}
	for _, s := range body.Servers {
		ids[s.Name] = s.ID
	}
	return ids
}

// converge applies until nothing is left to do, at most twice.
func converge(t *testing.T, wishes ...wish) {
	t.Helper()
	for range 3 {
		d := real(t)
		start := time.Now()
		n, err := runWith(t.Context(), d, prune, wishes...)
		t.Logf("%d changes, %d calls, %s", n, d.Calls(), time.Since(start).Round(time.Millisecond))
		if err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			return
		}
	}
	o, err := real(t).Observe(t.Context(), estate(wishes...), prune)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range changes(o, wishes) {
		t.Errorf("never settles: %s %s", c.Action, c.ID)
	}
}

// A gateway comes out of a create that was cut off, loses what another client
// takes from it, gets it back, moves, takes a customer's address and goes, on
// real services; then nothing of it is left.
func TestRealServices(t *testing.T) {
	d := real(t)
	nodes := d.servers(t)
	w := gatewayWish("e2e-driver", "100.64.203.0/24", nodes["worker-1"])
	t.Cleanup(func() {
		d, err := Connect(context.Background(), Options{})
		if err == nil {
			_, err = runWith(context.Background(), d, prune)
		}
		if err != nil {
			t.Error(err)
		}
	})
	cutOffCreates(t, d, w)
	converge(t, w)
	spoil(t, d, w)
	converge(t, w)

	moved := gatewayWish("e2e-driver", "100.64.204.0/24", nodes["worker-2"])
	moved.rules[2].Remote, moved.rules[3].Remote = cidr("198.51.100.99/32"), cidr("198.51.100.99/32")
	moved.hash = "state-2"
	converge(t, moved)

	id, address := takeFloatingIP(t, d)
	moved.pinned, moved.ledger.FloatingIP = netip.MustParseAddr(address), id
	converge(t, moved)
	converge(t)
	f, found, err := read[floatingIP](t.Context(), d, floatsPath, id)
	if err != nil || !found || text(f.Port) != "" {
		t.Errorf("the customer's address: %+v, found %v, error %v; want it free", f, found, err)
	}
}

// cutOffCreates leaves untagged objects, as a run does that stops in between.
func cutOffCreates(t *testing.T, d *Driver, w wish) {
	t.Helper()
	f, err := d.Locate(t.Context(), estate())
	if err != nil {
		t.Fatal(err)
	}
	name, description := state.Name(w.owner), state.Description("prod", w.owner)
	for path, body := range map[string]map[string]any{
		groupsPath: {"security_group": map[string]any{"name": name, "description": description}},
		portsPath: {"port": map[string]any{"name": name, "description": description, "network_id": f.NetworkID,
			"security_groups": []string{}}},
	} {
		if _, err := d.call(t.Context(), http.MethodPost, path, body, nil); err != nil {
			t.Fatal(err)
		}
	}
}

// takeFloatingIP takes an address by hand, and gives it back at the end.
func takeFloatingIP(t *testing.T, d *Driver) (id, address string) {
	t.Helper()
	pools, err := d.networksNamed(t.Context(), []string{"public"})
	if err != nil || len(pools) != 1 {
		t.Fatalf("pools %v, error %v", pools, err)
	}
	var body struct {
		FloatingIP floatingIP `json:"floatingip"`
	}
	_, err = d.call(t.Context(), http.MethodPost, floatsPath, map[string]any{"floatingip": map[string]any{"floating_network_id": pools[0].ID}}, &body)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.remove(context.Background(), floatsPath, body.FloatingIP.ID); err != nil {
			t.Error(err)
		}
	})
	return body.FloatingIP.ID, body.FloatingIP.Address
}

// spoil is what another client does to the gateway.
func spoil(t *testing.T, d *Driver, w wish) {
	t.Helper()
	o, err := d.Observe(t.Context(), estate(w), prune)
	if err != nil {
		t.Fatal(err)
	}
	ref := func(k resource.Kind) string { return o.Graph[idOf(k, w.owner)].Ref }
	routes := func(verb string, hops ...hop) error {
		_, err := d.call(t.Context(), http.MethodPut, routersPath+"/"+o.Facts.RouterID+"/"+verb, body(hops), nil)
		return err
	}
	to := w.ledger.ServiceCIDR.String()
	g, _, err := read[group](t.Context(), d, groupsPath, ref(resource.KindSecurityGroup))
	for what, do := range map[string]func() error{
		"reading": func() error { return err },
		"freeing the address": func() error {
			return d.change(t.Context(), floatsPath, ref(resource.KindFloatingIP), map[string]any{"port_id": nil})
		},
		"emptying the port": func() error {
			return d.change(t.Context(), portsPath, ref(resource.KindPort), map[string]any{"security_groups": []string{}, "allowed_address_pairs": []pair{}})
		},
		"taking the route": func() error {
			return routes("remove_extraroutes", hop{to, o.Facts.Gateway(w.owner.String()).PortAddress.String()})
		},
		"adding dead routes": func() error { return routes("add_extraroutes", hop{to, "10.254.0.177"}, hop{to, "10.254.0.178"}) },
		"deleting a rule":    func() error { return d.remove(t.Context(), rulesPath, g.Rules[len(g.Rules)-1].ID) },
	} {
		if err := do(); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	o, err = d.Observe(t.Context(), estate(w), keep)
	if err != nil {
		t.Fatal(err)
	}
	if r := o.Graph[idOf(resource.KindRoute, w.owner)].Route; r == nil || len(r.Stale) != 1 || len(r.Foreign) != 0 {
		t.Errorf("the dead routes are seen as %+v, want two stale ones", r)
	}
}

// The lock, on the last host of the real subnet.
func TestRealLock(t *testing.T) {
	d := real(t)
	f, err := d.Locate(t.Context(), estate())
	if err != nil {
		t.Fatal(err)
	}
	address := f.Subnet.Addr().As4()
	address[3] = 254
	at := f.SubnetGateway
	for at.As4() != address {
		at = at.Next()
	}
	lock, err := state.Acquire(t.Context(), d, state.LockOptions{Estate: "prod", Holder: "e2e", Address: at, Timeout: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	if w := lock.Warning(); w != "" {
		t.Error(w)
	}
	if _, err := state.Acquire(t.Context(), another(t), state.LockOptions{Estate: "prod", Holder: "other", Address: at}); err == nil {
		t.Error("two hold the lock")
	}
	if err := lock.Release(t.Context()); err != nil {
		t.Error(err)
	}
	if port, found, err := d.FindLock(t.Context(), at); err != nil || found {
		t.Errorf("left over %+v, error %v", port, err)
	}
}

// another is one more client of the same estate.
func another(t *testing.T) *Driver {
	t.Helper()
	d := real(t)
	if _, err := d.Locate(t.Context(), estate()); err != nil {
		t.Fatal(err)
	}
	return d
}
