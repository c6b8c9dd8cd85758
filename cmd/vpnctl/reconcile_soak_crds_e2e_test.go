//go:build e2e

package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/vpnctl/vpnctl/cloud/kube/lab"
	"github.com/vpnctl/vpnctl/cloud/simulator"
	"github.com/vpnctl/vpnctl/crds"
)

// TestKubeSoakCRDsDeleted deletes the CRDs of gateways and peers under a controller at
// work, as kubectl delete crd does: no gateway loses anything, its peers neither. Then it
// does what the status says, which brings back what there was.
func TestKubeSoakCRDsDeleted(t *testing.T) {
	s := newSoak(t, asItIs)
	all := []model{s.gateway(0, 0), s.gateway(1, 0), s.gateway(2, 0)}
	for _, m := range all {
		s.put(m)
	}
	s.start("--resync", "2s")
	s.converged(3*time.Minute, all...)
	s.ended("start")
	before := s.belongings()
	kinds := []string{"vpngateways.vpn.bnerd.net", "ipsecgateways.ipsec.bnerd.net", "vpnpeers.vpn.bnerd.net"}
	shell(t, s.lab, "kubectl delete crd --wait=false "+strings.Join(kinds[:2], " "))
	lab.Await(t, time.Minute, func(context.Context) string {
		for name, u := range s.manifests() {
			if c := lab.ConditionOf(u, "Ready"); c.Reason != "Deleting" || !strings.Contains(c.Message, "the CRD is being deleted: nothing of it is removed") {
				return fmt.Sprintf("%s: %+v", name, c)
			}
		}
		return ""
	})
	shell(t, s.lab, "kubectl delete crd --wait=false "+kinds[2]) // nothing holds peers: they are gone at once
	time.Sleep(6 * time.Second)                                  // in which a controller that believed it would have begun
	s.stands(before, "with its CRD deleted")

	for _, m := range all { // its status says how it stays
		objects := s.lab.Objects(t, m.apiVersion(), m.kind, s.namespace)
		if _, err := objects.Patch(t.Context(), m.name, types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{}); err != nil && !apierrors.IsNotFound(err) {
			t.Fatal(err)
		}
	}
	lab.Await(t, time.Minute, func(context.Context) string {
		for _, name := range kinds {
			if s.lab.Get(t, "apiextensions.k8s.io/v1", "CustomResourceDefinition", "", name) != nil {
				return name + " is still there"
			}
		}
		return ""
	})
	s.stands(before, "with the CRDs gone")
	s.lab.Apply(t, crds.YAML())
	lab.Await(t, time.Minute, func(ctx context.Context) string { // they are served a moment later
		for _, kind := range []model{{kind: "VPNGateway"}, {kind: "IPsecGateway"}, {kind: "VPNPeer"}} {
			if _, err := s.lab.Objects(t, kind.apiVersion(), kind.kind, s.namespace).List(ctx, metav1.ListOptions{}); err != nil {
				return err.Error()
			}
		}
		return ""
	})
	for _, m := range slices.Backward(all) {
		s.put(m)
	}
	s.converged(3*time.Minute, all...)
	s.stands(before, "with its manifest written again")
	if lies := s.lies(true); len(lies) > 0 {
		t.Error(lies)
	}
	s.ended("the CRDs are deleted and put back")
	s.end(all...)
}

// belongings are what gateways have, in the cloud and in the cluster.
type belongings struct {
	cloud   string
	objects map[string]string // by kind and name: which one, and what it holds
}

func (s *soak) belongings() belongings {
	s.t.Helper()
	at := belongings{objects: map[string]string{}}
	all, err := s.sim.Snapshot()
	if err != nil {
		s.t.Fatal(err)
	}
	ours := all.Only(func(o simulator.Object) bool { return !strings.HasPrefix(o.Text("name"), "vpnctl-lock-") })
	at.cloud = string(ours.Normalize().Bytes())
	for key, u := range s.owned("") {
		at.objects[key] = fmt.Sprint(u.GetUID(), " ", u.Object["data"], u.Object["spec"], u.Object["rules"])
	}
	return at
}

// stands wants gateways to have what they had.
func (s *soak) stands(before belongings, when string) {
	s.t.Helper()
	now := s.belongings()
	if diff := cmp.Diff(before.cloud, now.cloud); diff != "" {
		s.t.Errorf("%s, in the cloud (-before +now):\n%s", when, diff)
	}
	if diff := cmp.Diff(before.objects, now.objects); diff != "" {
		s.t.Errorf("%s, in the cluster (-before +now):\n%s", when, diff)
	}
}
