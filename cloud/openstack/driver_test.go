package openstack

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/cloud/simulator"
)

// The scopes of a run without and with --prune.
var (
	keep  = cloud.Scope{}
	prune = cloud.Scope{Leftovers: true}
)

func TestAGatewayComesAndGoes(t *testing.T) {
	l := newLab(t, simulator.Options{})
	before := l.snapshot()
	w := gatewayWish("dc1", "100.64.3.0/24", l.node("worker-1"))
	d := l.connect("operator")
	l.Reset()
	if _, err := runWith(t.Context(), d, keep, w); err != nil {
		t.Fatal(err)
	}
	n, err := runWith(t.Context(), d, keep, w)
	if err != nil || n != 0 {
		t.Fatalf("second run: %d changes, %v", n, err)
	}
	l.settle(prune)
	if diff := cmp.Diff(before, l.snapshot()); diff != "" {
		t.Errorf("left over (-before +after):\n%s", diff)
	}
}
