package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/plan"
)

// TestWhichClusterGoesOn: the line that applies a plan names the cluster that the plan
// was made for.
func TestWhichClusterGoesOn(t *testing.T) {
	c := planCommand{Paths: []string{"gateways"}}
	c.Kubeconfig, c.Context, c.OperatorStopped, c.Hold = "other.yaml", "fra1", true, plan.DefaultHold
	want := "vpnctl apply --kubeconfig other.yaml --context fra1 --operator-stopped gateways"
	if diff := cmp.Diff(want, c.next(&Globals{}, plan.Plan{})); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	c.Out = "plan.json"
	want = "vpnctl apply --kubeconfig other.yaml --context fra1 --operator-stopped plan.json"
	if diff := cmp.Diff(want, c.next(&Globals{}, plan.Plan{})); diff != "" {
		t.Errorf("saved (-want +got)\n%s", diff)
	}
}
