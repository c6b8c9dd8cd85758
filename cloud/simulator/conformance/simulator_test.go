package conformance

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/vpnctl/vpnctl/cloud/simulator"
)

// simulated serves a new simulator and answers how to use it.
func simulated(t *testing.T) (*simulator.Server, Cloud) {
	t.Helper()
	server, err := simulator.New(simulator.Options{})
	if err != nil {
		t.Fatal(err)
	}
	url, end, err := server.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := end(); err != nil {
			t.Error(err)
		}
	})
	access, err := server.Credentials(url, "operator")
	if err != nil {
		t.Fatal(err)
	}
	customer, err := server.Credentials(url, "customer")
	if err != nil {
		t.Fatal(err)
	}
	cloud := cloudsYAML(t, []byte(access.CloudsYAML))
	cloud.Password = Password{customer.Username, customer.Password, customer.ProjectName}
	return server, cloud
}

// TestSimulator runs the suite twice, and compares the whole state after the
// second time with that after the first, when every project has its default
// group: what is run against clouds in use must leave nothing there.
func TestSimulator(t *testing.T) {
	server, cloud := simulated(t)
	Run(t, cloud)
	first := snapshot(t, server)
	t.Run("again", func(t *testing.T) { Run(t, cloud) })
	if diff := cmp.Diff(first, snapshot(t, server)); diff != "" {
		t.Errorf("the suite left something (-first +second):\n%s", diff)
	}
}

func snapshot(t *testing.T, server *simulator.Server) simulator.Snapshot {
	t.Helper()
	s, err := server.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	return s.Normalize()
}
