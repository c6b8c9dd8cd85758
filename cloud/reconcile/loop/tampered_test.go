package loop_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/cloud/kube"
	"github.com/vpnctl/vpnctl/cloud/reconcile/loop"
	vpnv1alpha1 "github.com/vpnctl/vpnctl/crds/vpn/v1alpha1"
)

// counting is a Cluster that counts the rounds which read it.
type counting struct {
	loop.Cluster
	rounds atomic.Int64
}

func (c *counting) Manifests(ctx context.Context) ([]cloud.Manifest, error) {
	c.rounds.Add(1)
	return c.Cluster.Manifests(ctx)
}

// settled is the number of rounds once no more of them follow each other.
func (c *counting) settled() int64 {
	for last := int64(-1); ; {
		now := c.rounds.Load()
		if now == last && now > 0 {
			return now
		}
		last = now
		time.Sleep(3 * time.Second)
	}
}

// eventually waits for what must come.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for late := time.After(2 * time.Minute); !is(); {
		select {
		case <-late:
			t.Fatal(what)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// TestATamperedStatus: what another hand writes into a status is put right without any
// other event, and neither that nor what a pod reports makes round follow round.
func TestATamperedStatus(t *testing.T) {
	f := newFieldOverAPI(t)
	driver, err := kube.Over(f.api.Config(), kube.Options{Gone: 10 * time.Second, Poll: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	count := &counting{Cluster: f.c.Cluster}
	f.c.Cluster, f.c.Changes = count, driver.Changes(t.Context(), "acme", kube.Watching{Named: f.c.Names})
	f.put(manifestsOf(t, "acme/dc1")...)
	status := func(path ...string) string {
		text, _, _ := unstructured.NestedString(f.api.Get("VPNGateway", "acme", "dc1").Object, append([]string{"status"}, path...)...)
		return text
	}
	write := func(hand, kind, name string, edit func(status map[string]any)) {
		t.Helper()
		u := f.api.Get(kind, "acme", name)
		edit(u.Object["status"].(map[string]any))
		f.api.PutAs(t, hand, u.Object)
	}
	(&field{World: f.World}).running(f.c, func() {
		eventually(t, "nothing is said of the gateway", func() bool { return status("nodeName") != "" })
		before := count.settled()
		node, address := status("nodeName"), status("floatingIP")
		ready := f.said("VPNGateway", "acme", "dc1", vpnv1alpha1.ConditionReady)
		authorized := f.said("VPNPeer", "acme", "plant1", vpnv1alpha1.ConditionAuthorized)

		write("kubectl", "VPNGateway", "dc1", func(s map[string]any) { s["nodeName"], s["floatingIP"] = "elsewhere", "192.0.2.1" })
		eventually(t, "fields of a status stay forged", func() bool { return status("nodeName") == node && status("floatingIP") == address })
		forge := func(s map[string]any) {
			for _, c := range s["conditions"].([]any) {
				c.(map[string]any)["status"], c.(map[string]any)["reason"] = "Unknown", "Forged"
			}
		}
		write("kubectl", "VPNGateway", "dc1", forge)
		eventually(t, "conditions of a gateway stay forged", func() bool {
			return f.said("VPNGateway", "acme", "dc1", vpnv1alpha1.ConditionReady) == ready
		})
		write("kubectl", "VPNPeer", "plant1", forge)
		eventually(t, "conditions of a peer stay forged", func() bool {
			return f.said("VPNPeer", "acme", "plant1", vpnv1alpha1.ConditionAuthorized) == authorized
		})
		write("kubectl", "VPNGateway", "dc1", func(s map[string]any) { delete(s, "conditions") })
		eventually(t, "conditions stay away", func() bool {
			return f.said("VPNGateway", "acme", "dc1", vpnv1alpha1.ConditionReady) == ready
		})
		after := count.settled()
		if n := after - before; n > 4*3 {
			t.Errorf("%d rounds for four forgeries", n)
		}
		for i := range 3 {
			write("vpnctl-agent", "VPNPeer", "plant1", func(s map[string]any) { s["bytesIn"] = int64(i + 1) })
			write("vpnctl-agent", "VPNGateway", "dc1", func(s map[string]any) { s["peersUp"] = []string{"0/1", "1/1", "2/2"}[i] })
		}
		if n := count.settled() - after; n > 0 {
			t.Errorf("%d rounds for what a pod reports", n)
		}
	})
}
