package simulator_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack"

	"github.com/vpnctl/vpnctl/cloud/simulator"
)

const base = "http://simulator.test"

// cloud makes a server in memory.
func cloud(t *testing.T, o simulator.Options) *simulator.Server {
	t.Helper()
	o.Keep = simulator.All
	s, err := simulator.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// clients are logged in to one cloud.
type clients struct {
	network, compute *gophercloud.ServiceClient
	project          string
}

func login(t *testing.T, s *simulator.Server, name string) clients {
	t.Helper()
	cred, err := s.Credentials(base, name)
	if err != nil {
		t.Fatal(err)
	}
	p, err := openstack.NewClient(cred.AuthURL)
	if err != nil {
		t.Fatal(err)
	}
	p.HTTPClient = http.Client{Transport: simulator.Transport(s)}
	err = openstack.Authenticate(context.Background(), p, gophercloud.AuthOptions{IdentityEndpoint: cred.AuthURL,
		ApplicationCredentialID: cred.CredentialID, ApplicationCredentialSecret: cred.Secret, AllowReauth: true})
	if err != nil {
		t.Fatal(err)
	}
	c := clients{project: cred.ProjectID}
	if c.network, err = openstack.NewNetworkV2(p, gophercloud.EndpointOpts{Region: cred.Region}); err != nil {
		t.Fatal(err)
	}
	if c.compute, err = openstack.NewComputeV2(p, gophercloud.EndpointOpts{Region: cred.Region}); err != nil {
		t.Fatal(err)
	}
	c.compute.Microversion = "2.79"
	return c
}

// clock is a time that tests move by hand.
type clock struct{ now time.Time }

func newClock() *clock { return &clock{time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)} }

func (c *clock) Now() time.Time { return c.now }

func (c *clock) add(d time.Duration) { c.now = c.now.Add(d) }
