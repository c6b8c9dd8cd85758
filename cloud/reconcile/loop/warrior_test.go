package loop_test

import (
	"encoding/json"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/vpnctl/vpnctl/cloud/reconcile/world"
)

// TestARoadWarriorsAddress stands in its own status, and in that of no other peer; a
// round with nothing to do doesn't write it again.
func TestARoadWarriorsAddress(t *testing.T) {
	f := newFieldOverAPI(t)
	gateway := ""
	for _, g := range world.Estate(t).Gateways {
		for _, p := range g.Peers {
			if p.RoadWarrior {
				gateway = g.Owner.Path()
			}
		}
	}
	all := manifestsOf(t, gateway)
	f.put(all...)
	f.turns(3)
	g, _ := world.Estate(t).Gateway(gateway)
	warriors := 0
	for _, p := range g.Peers {
		status := f.api.Get("VPNPeer", g.Owner.Namespace, p.Name).Object["status"]
		address, _, _ := unstructured.NestedString(map[string]any{"status": status}, "status", "address")
		if p.RoadWarrior {
			warriors++
		}
		if p.RoadWarrior != strings.HasPrefix(address, "100.64.") {
			text, _ := json.Marshal(status)
			t.Errorf("%s, a road warrior: %v, has the status %s", p.Name, p.RoadWarrior, text)
		}
	}
	if warriors == 0 || warriors == len(g.Peers) {
		t.Fatalf("%d of %d peers are road warriors", warriors, len(g.Peers))
	}
	f.api.Forget()
	f.turns(1)
	for _, call := range f.api.Calls() {
		if call.Writes() && call.Resource == "vpnpeers" {
			t.Errorf("written again: %s %s", call.Name, call.Subresource)
		}
	}
}
