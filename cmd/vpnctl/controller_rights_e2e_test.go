//go:build e2e

package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/vpnctl/vpnctl/cloud/kube/lab"
	"github.com/vpnctl/vpnctl/render/controller"
)

// handedOn are rights that the controller never uses itself: it holds them because each
// gateway's pod gets them for its own, and nobody may give what he hasn't.
var handedOn = []string{"ipsec.bnerd.net ipsecgateways/status get", "vpn.bnerd.net vpngateways/status get", "vpn.bnerd.net vpnpeers/status get"}

// TestKubeControllerRights goes through the life of gateways of every kind as the account
// that was rendered: nothing is denied, and no right is left unused but those that are
// handed on.
func TestKubeControllerRights(t *testing.T) {
	i := install(t, "  monitoring: {podMonitor: true, prometheusRule: true}\n")
	i.cloud()
	mark := i.lab.Mark(t)
	i.start()
	i.live()
	i.stop()

	used, refused := map[string]bool{}, []string{}
	for _, r := range i.lab.Requests(t, mark) {
		if r.User != i.user() {
			continue
		}
		if r.Code == 401 || r.Code == 403 {
			refused = append(refused, r.String())
		}
		right := r.Group + " " + r.Resource + " "
		used[right+r.Verb] = true
		if r.Verb == "patch" && r.Code == 201 { // what an apply makes anew is a create as well
			used[right+"create"] = true
		}
	}
	if len(refused) > 0 {
		t.Errorf("refused:\n%s", strings.Join(refused, "\n"))
	}
	held := i.held()
	for _, right := range handedOn {
		if used[right] {
			t.Errorf("%s is used, and isn't only handed on", right)
		}
		used[right] = true
	}
	var all []string
	for right := range used {
		all = append(all, right)
	}
	slices.Sort(all)
	if diff := cmp.Diff(held, all); diff != "" {
		t.Errorf("(-held +used)\n%s", diff)
	}
}

// held are the rights of the account, sorted.
func (i *installed) held() []string {
	var all []string
	for _, r := range slices.Concat(controller.Rights(), controller.LeaseRights(i.namespace)) {
		for _, resource := range r.Resources {
			for _, verb := range r.Verbs {
				all = append(all, r.Group+" "+resource+" "+verb)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// live goes through all that may happen to gateways.
func (i *installed) live() {
	const vpn, ipsec = "vpn.bnerd.net/v1alpha1", "ipsec.bnerd.net/v1alpha1"
	secret := []byte("apiVersion: v1\nkind: Secret\nmetadata: {name: plant1-psk, namespace: " + i.namespace + "}\nstringData: {psk: a-long-one}\n")
	i.write("gateway.yaml", "plant1.yaml")
	i.lab.Apply(i.t, []byte(strings.ReplaceAll(read(i.t, others), "NAMESPACE", i.namespace)))
	i.ready(vpn, "VPNGateway", "dc1", "PeerSecretMissing")
	i.lab.Apply(i.t, secret)
	i.ready(vpn, "VPNGateway", "dc1", "True Ready")
	i.ready(vpn, "VPNGateway", "remote", "True Ready")
	i.ready(ipsec, "IPsecGateway", "old", "True Ready")
	i.linked()

	i.again(secret)
	i.contended()
	i.unready()
	i.repaired()
	i.moved()
	for _, o := range [][3]string{{vpn, "VPNPeer", "plant1"}, {vpn, "VPNPeer", "ina"}, {vpn, "VPNGateway", "dc1"}, {vpn, "VPNGateway", "remote"}, {ipsec, "IPsecGateway", "old"}} {
		i.lab.Delete(i.t, o[0], o[1], i.namespace, o[2])
	}
	i.empty()
}

// linked: a link comes and goes.
func (i *installed) linked() {
	i.lab.Apply(i.t, []byte("apiVersion: ipsec.bnerd.net/v1alpha1\nkind: ClusterLink\nmetadata: {name: "+i.namespace+"}\n"+
		"spec: {serviceClusterCIDR: 10.40.0.0/16, serviceClusterRouter: service-cluster-router}\n"))
	lab.Await(i.t, time.Minute, func(context.Context) string {
		c := lab.ConditionOf(i.lab.Get(i.t, "ipsec.bnerd.net/v1alpha1", "ClusterLink", "", i.namespace), "Ready")
		if c.Status != "True" {
			return "the link is not ready: " + c.Reason + ": " + c.Message
		}
		return ""
	})
	i.lab.Delete(i.t, "ipsec.bnerd.net/v1alpha1", "ClusterLink", "", i.namespace)
}

// others are gateways beside those of the example: one whose key the controller makes, and
// one of the older kind.
const others = "testdata/controller/gateways.yaml"

// again lets another process tell what was told before, an hour later: the same Event.
func (i *installed) again(secret []byte) {
	_ = i.running.Process.Kill()
	_ = i.running.Wait()
	i.lab.Delete(i.t, "v1", "Secret", i.namespace, "plant1-psk")
	list, err := i.lab.Objects(i.t, "v1", "Event", i.namespace).List(i.t.Context(), metav1.ListOptions{FieldSelector: "reason=PeerSecretMissing"})
	if err != nil || len(list.Items) == 0 {
		i.t.Fatalf("no Event says that the Secret is missing: %v", err)
	}
	for _, e := range list.Items {
		i.patch("v1", "Event", e.GetName(), map[string]any{"lastTimestamp": time.Now().Add(-time.Hour).UTC().Format(time.RFC3339)})
	}
	i.start()
	i.ready("vpn.bnerd.net/v1alpha1", "VPNGateway", "dc1", "PeerSecretMissing")
	i.lab.Apply(i.t, secret)
	i.ready("vpn.bnerd.net/v1alpha1", "VPNGateway", "dc1", "True Ready")
}

// contended edits a peer whose status others write all the time, until the controller has
// met one of them.
func (i *installed) contended() {
	const vpn = "vpn.bnerd.net/v1alpha1"
	mark := i.lab.Mark(i.t)
	peers, wait, done := i.lab.Objects(i.t, vpn, "VPNPeer", i.namespace), sync.WaitGroup{}, make(chan struct{})
	wait.Go(func() {
		for n := 0; ; n++ {
			select {
			case <-done:
				return
			case <-time.After(5 * time.Millisecond):
			}
			_, _ = peers.Patch(i.t.Context(), "ina", types.MergePatchType, fmt.Appendf(nil, `{"status":{"bytesIn":%d}}`, n), metav1.PatchOptions{}, "status")
		}
	})
	defer wait.Wait()
	defer close(done)
	for n := 0; ; n++ {
		granted := []any{"erp"}
		if n%2 == 0 {
			granted = []any{}
		}
		i.patch(vpn, "VPNPeer", "ina", map[string]any{"spec": map[string]any{"authorization": map[string]any{"exposures": granted}}})
		time.Sleep(2 * time.Second)
		for _, r := range i.lab.Requests(i.t, mark) {
			if r.User == i.user() && r.Verb == "get" && r.Resource == "vpnpeers" && n%2 == 1 {
				return
			}
		}
		if n > 60 {
			i.t.Fatal("the controller never met another writer of the peer's status")
		}
	}
}

// unready takes a gateway's pod out of service for as long as the controller doesn't say so.
func (i *installed) unready() {
	pods, err := i.lab.Objects(i.t, "v1", "Pod", i.namespace).List(i.t.Context(), metav1.ListOptions{LabelSelector: "vpn.bnerd.net/gateway=dc1"})
	if err != nil || len(pods.Items) != 1 {
		i.t.Fatalf("%d pods: %v", len(pods.Items), err)
	}
	i.lab.PodReady(i.t, i.namespace, pods.Items[0].GetName(), false)
	i.ready("vpn.bnerd.net/v1alpha1", "VPNGateway", "dc1", "False")
	i.lab.PodReady(i.t, i.namespace, pods.Items[0].GetName(), true)
	i.ready("vpn.bnerd.net/v1alpha1", "VPNGateway", "dc1", "True Ready")
}

// repaired wants an object back that was deleted, and on the generated key the mark that
// somebody took off.
func (i *installed) repaired() {
	const mark = "vpn.bnerd.net/owner"
	i.lab.Delete(i.t, "v1", "ConfigMap", i.namespace, "dc1-swanctl")
	i.patch("v1", "Secret", "remote-wg-key", map[string]any{"metadata": map[string]any{"annotations": map[string]any{mark: nil}}})
	lab.Await(i.t, time.Minute, func(context.Context) string {
		if i.lab.Get(i.t, "v1", "ConfigMap", i.namespace, "dc1-swanctl") == nil {
			return "the ConfigMap that was deleted is not back"
		}
		if notes := i.lab.Get(i.t, "v1", "Secret", i.namespace, "remote-wg-key").GetAnnotations(); notes[mark] != "VPNGateway/"+i.namespace+"/remote" {
			return fmt.Sprintf("the key has the annotations %v", notes)
		}
		return ""
	})
}

// moved wants a gateway off a node that is lost.
func (i *installed) moved() {
	node := i.text("nodeName")
	i.lab.NotReady(i.t, node)
	lab.Await(i.t, 2*time.Minute, func(context.Context) string {
		if i.text("nodeName") == node {
			return "the gateway is still on " + node
		}
		return ""
	})
	i.lab.Ready(i.t, node)
	i.ready("vpn.bnerd.net/v1alpha1", "VPNGateway", "dc1", "True Ready")
}
