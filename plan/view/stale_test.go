package view

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/resource"
)

func TestStale(t *testing.T) {
	few := []plan.Difference{
		{ID: id(resource.KindFloatingIP, dc1), Owner: dc1, Planned: "update: port acme/dc1", Now: `floating IP 203.0.113.9 is held by port "lb-frontend" (not ours)`},
		{ID: id(resource.KindPort, remote), Owner: remote, Planned: "nothing to do", Now: "create: node worker-2\x1b[2J"},
		{Owner: old, Planned: "nothing to do", Now: "the protocol can't change"},
		{Planned: "nothing to do", Now: "no manifest was read"},
	}
	var many []plan.Difference
	for i := range 30 {
		many = append(many, plan.Difference{ID: resource.ID{Kind: resource.KindPort, Namespace: "n", Name: fmt.Sprint(i)}, Planned: "a", Now: "b"})
	}
	for name, moved := range map[string][]plan.Difference{"what moved is named": few, "many are counted": many} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			if err := Stale(&b, "plan.json", everything(), moved); err != nil {
				t.Fatal(err)
			}
			golden(t, "stale_"+t.Name()[len("TestStale/"):]+".txt", b.Bytes())
		})
	}
}
