package simulator_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/networks"

	"github.com/vpnctl/vpnctl/cloud/simulator"
)

// Over a socket, by password, and with the version of Keystone discovered.
func TestListenServesGophercloud(t *testing.T) {
	ctx := context.Background()
	s := cloud(t, simulator.Options{})
	url, stop, err := s.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	cred := must(s.Credentials(url, "customer"))(t)
	for _, endpoint := range []string{cred.AuthURL, url + "/identity", url + "/identity/"} {
		p := must(openstack.AuthenticatedClient(ctx, gophercloud.AuthOptions{IdentityEndpoint: endpoint, Username: cred.Username,
			Password: cred.Password, DomainName: cred.Domain, TenantName: cred.ProjectName}))(t)
		c := must(openstack.NewNetworkV2(p, gophercloud.EndpointOpts{Region: cred.Region}))(t)
		if nets := all(t, networks.List(c, nil), networks.ExtractNetworks); len(nets) != 1 || nets[0].Name != "public" {
			t.Errorf("at %s a customer sees %v, want the external network alone", endpoint, nets)
		}
	}
	// a connection over which nothing is said does not hold up the end
	silent, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	start := time.Now()
	if err := stop(); err != nil || time.Since(start) > 2*time.Second {
		t.Errorf("closing took %v: %v", time.Since(start), err)
	}
	if res, err := http.Get(url); err == nil {
		res.Body.Close()
		t.Error("still answers after closing")
	}
}

func TestListenRefusesOtherThanLoopback(t *testing.T) {
	s := cloud(t, simulator.Options{})
	for _, addr := range []string{"0.0.0.0:0", ":0", "192.0.2.1:0", "example.com:0", "127.0.0.1"} {
		if _, stop, err := s.Listen(addr); err == nil {
			t.Errorf("listens on %s", addr)
			if err := stop(); err != nil {
				t.Error(err)
			}
		}
	}
}

// Many clients at once: each gets its own object, with an address of its own.
func TestParallelCalls(t *testing.T) {
	s := cloud(t, simulator.Options{})
	a := connect(t, s, "operator")
	network := a.network("vpn-transit")
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 10 {
				r := a.do("POST", "/network/v2.0/ports", fmt.Sprintf(`{"port": {"network_id": %q, "name": "p%d-%d"}}`, network, i, j))
				if r.status != 201 {
					t.Errorf("creating: %d %s", r.status, r.raw)
					return
				}
				a.do("GET", "/network/v2.0/ports", "")
				a.do("PUT", "/network/v2.0/ports/"+r.id("port")+"/tags", `{"tags": ["t"]}`)
				s.Calls()
			}
		})
	}
	wg.Wait()
	tagged := a.net("GET", "/ports?tags=t", "", 200).list("ports")
	addresses := map[any]bool{}
	for _, p := range tagged {
		addresses[p["fixed_ips"].([]any)[0].(map[string]any)["ip_address"]] = true
	}
	if len(tagged) != 80 || len(addresses) != 80 {
		t.Errorf("%d ports with %d addresses, want 80 of each", len(tagged), len(addresses))
	}
	if got := simulator.Count(s.Calls()); got.Writes != 160 || got.By["POST /v2.0/ports"] != 80 {
		t.Errorf("counted %d writes, %d creates; want 160 and 80", got.Writes, got.By["POST /v2.0/ports"])
	}
}
