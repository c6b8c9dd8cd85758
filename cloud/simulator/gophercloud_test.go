package simulator_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/attachinterfaces"
	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/servers"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/extensions/attributestags"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/extensions/layer3/extraroutes"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/extensions/layer3/floatingips"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/extensions/layer3/routers"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/extensions/security/groups"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/extensions/security/rules"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/networks"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/ports"
	"github.com/gophercloud/gophercloud/v2/pagination"

	"github.com/vpnctl/vpnctl/cloud/simulator"
)

// all reads every page of a list.
func all[T any](t *testing.T, p pagination.Pager, extract func(pagination.Page) ([]T, error)) []T {
	t.Helper()
	page, err := p.AllPages(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	list, err := extract(page)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func must[T any](v T, err error) func(t *testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// A gateway is built and taken down with gophercloud, as vpnctl would.
func TestGatewayWithGophercloud(t *testing.T) {
	ctx := context.Background()
	s := cloud(t, simulator.Options{})
	c := login(t, s, "operator")

	nets := all(t, networks.List(c.network, networks.ListOpts{Name: "vpn-transit"}), networks.ExtractNetworks)
	pools := all(t, networks.List(c.network, networks.ListOpts{Name: "public"}), networks.ExtractNetworks)
	nodes := all(t, servers.List(c.compute, servers.ListOpts{}), servers.ExtractServers)
	if len(nets) != 1 || len(pools) != 1 || len(nodes) != 3 {
		t.Fatalf("seed: %d transit networks, %d pools, %d nodes", len(nets), len(pools), len(nodes))
	}

	sg := must(groups.Create(ctx, c.network, groups.CreateOpts{Name: "vpn-acme-dc1"}).Extract())(t)
	tags := []string{"vpn.bnerd.net/managed=vpnctl", "vpn.bnerd.net/owner=VPNGateway/acme/dc1"}
	got := must(attributestags.ReplaceAll(ctx, c.network, "security-groups", sg.ID, attributestags.ReplaceAllOpts{Tags: tags}).Extract())(t)
	if diff := cmp.Diff(tags, got); diff != "" {
		t.Errorf("tags (-want +got):\n%s", diff)
	}
	must(rules.Create(ctx, c.network, rules.CreateOpts{SecGroupID: sg.ID, Direction: rules.DirIngress, EtherType: rules.EtherType4,
		Protocol: rules.ProtocolUDP, PortRangeMin: 500, PortRangeMax: 500, RemoteIPPrefix: "198.51.100.7"}).Extract())(t)
	groupIDs := []string{sg.ID}
	port := must(ports.Create(ctx, c.network, ports.CreateOpts{NetworkID: nets[0].ID, Name: "vpn-acme-dc1", SecurityGroups: &groupIDs}).Extract())(t)

	at := must(attachinterfaces.Create(ctx, c.compute, nodes[0].ID, attachinterfaces.CreateOpts{PortID: port.ID}).Extract())(t)
	if at.PortID != port.ID {
		t.Errorf("attached %s, want %s", at.PortID, port.ID)
	}
	port = must(ports.Get(ctx, c.network, port.ID).Extract())(t)
	if port.DeviceID != nodes[0].ID || port.DeviceOwner != "compute:nova" || port.Status != "ACTIVE" {
		t.Errorf("attached port: device %q owner %q status %q", port.DeviceID, port.DeviceOwner, port.Status)
	}

	fip := must(floatingips.Create(ctx, c.network, floatingips.CreateOpts{FloatingNetworkID: pools[0].ID, PortID: port.ID}).Extract())(t)
	if fip.PortID != port.ID || fip.FixedIP != port.FixedIPs[0].IPAddress {
		t.Errorf("floating IP: port %q fixed IP %q", fip.PortID, fip.FixedIP)
	}
	rs := all(t, routers.List(c.network, routers.ListOpts{Name: "gateway-router"}), routers.ExtractRouters)
	routes := []routers.Route{{DestinationCIDR: "100.64.0.0/24", NextHop: port.FixedIPs[0].IPAddress}}
	r := must(extraroutes.Add(ctx, c.network, rs[0].ID, extraroutes.Opts{Routes: &routes}).Extract())(t)
	if diff := cmp.Diff(routes, r.Routes); diff != "" {
		t.Errorf("routes (-want +got):\n%s", diff)
	}

	tagged := all(t, groups.List(c.network, groups.ListOpts{Tags: tags[0], ProjectID: c.project}), groups.ExtractGroups)
	if len(tagged) != 1 || len(tagged[0].Rules) != 3 {
		t.Errorf("groups by tag: %+v", tagged)
	}
}

// Detaching is accepted at once, for anything, and done after a read has still seen the port attached.
func TestDetachComesLater(t *testing.T) {
	ctx := context.Background()
	s := cloud(t, simulator.Options{})
	c := login(t, s, "operator")
	net := all(t, networks.List(c.network, networks.ListOpts{Name: "vpn-transit"}), networks.ExtractNetworks)[0]
	nodes := all(t, servers.List(c.compute, servers.ListOpts{}), servers.ExtractServers)
	port := must(ports.Create(ctx, c.network, ports.CreateOpts{NetworkID: net.ID}).Extract())(t)
	attach := func(node int) error {
		_, err := attachinterfaces.Create(ctx, c.compute, nodes[node].ID, attachinterfaces.CreateOpts{PortID: port.ID}).Extract()
		return err
	}
	if err := attach(0); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{port.ID, "00000000-0000-4000-8000-000000000000"} {
		if err := attachinterfaces.Delete(ctx, c.compute, nodes[0].ID, id).ExtractErr(); err != nil {
			t.Errorf("detaching %s: %v", id, err)
		}
	}
	if err := attach(1); !gophercloud.ResponseCodeIs(err, http.StatusConflict) {
		t.Errorf("attaching while the port is being detached: %v, want 409", err)
	}
	for i, want := range []string{nodes[0].ID, ""} {
		if p := must(ports.Get(ctx, c.network, port.ID).Extract())(t); p.DeviceID != want {
			t.Errorf("read %d: device %q, want %q", i+1, p.DeviceID, want)
		}
	}
	if err := attach(1); err != nil {
		t.Errorf("attaching after the detach: %v", err)
	}
}
