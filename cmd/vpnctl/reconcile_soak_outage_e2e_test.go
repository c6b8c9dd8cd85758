//go:build e2e

package main

import (
	"context"
	"fmt"
	"net/http"
	"os/exec"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/vpnctl/vpnctl/cloud/kube/lab"
	"github.com/vpnctl/vpnctl/cloud/simulator"
)

// TestKubeSoakOutages: the cloud is away, then the API server, which comes back to expired
// watches; and of several replicas one works at a time, whichever way the others end.
func TestKubeSoakOutages(t *testing.T) {
	s := newSoak(t, asItIs)
	all := []model{s.gateway(0, 0), s.gateway(1, 0), s.gateway(2, 0)}
	for _, m := range all {
		s.put(m)
	}
	first := s.replica("one")
	s.converged(3*time.Minute, all...)
	s.ended("start")
	all[0] = s.failingCloud(all)
	s.ended("one change fails")
	s.awayCloud(all)
	s.ended("the cloud is away")
	all[1] = s.awayAPI(all)
	s.ended("the API server is away")
	s.running = first
	s.replicas(all)
	s.ended("three replicas")
	s.end(all...)
}

// failingCloud: one change fails, while others wake the loop: it is tried every 15 seconds
// and not sooner.
func (s *soak) failingCloud(all []model) model {
	s.t.Helper()
	began := time.Now()
	s.disturb(func(r *http.Request) simulator.Fault {
		if r.Method != http.MethodPut || !strings.HasSuffix(r.URL.Path, "/tags") {
			return simulator.Fault{}
		}
		return simulator.Fault{Do: simulator.Fail, Status: http.StatusConflict, Type: "OverQuota", Message: "enough"}
	})
	edited := s.gateway(0, 1)
	s.put(edited)
	mark := s.lab.Mark(s.t)
	var said, tries int
	for i := 0; i < 20 || tries < 2 && i < 120; i++ {
		s.put(s.gateway(1, i%2)) // which wants its ledger written as well
		s.put(all[1])
		time.Sleep(time.Second)
		if i == 6 {
			mark = s.lab.Mark(s.t)
		}
		tries = s.tries(edited, began)
	}
	for _, w := range s.ourWrites(mark) {
		if strings.HasSuffix(w.Resource, "/status") && w.Name == edited.name {
			said++
		}
	}
	if most := 2 + int(time.Since(began)/(15*time.Second)); tries < 2 || tries > most {
		s.t.Errorf("a change that fails was tried %d times in %s, want one each 15 s", tries, time.Since(began).Round(time.Second))
	}
	if said > 0 {
		s.t.Errorf("its status was written %d times without news", said)
	}
	s.disturb(nil)
	s.converged(time.Minute, edited, all[1], all[2])
	return edited
}

// tries is how often a gateway's ledger was to be written since a moment.
func (s *soak) tries(m model, since time.Time) (n int) {
	path := "/security-groups/" + s.group(m)
	for _, c := range s.since(since) {
		if c.method == http.MethodPut && strings.HasSuffix(c.path, "/tags") && strings.Contains(c.path, path) {
			n++
		}
	}
	return n
}

// group is the ID of a gateway's security group.
func (s *soak) group(m model) string {
	return s.look().one("security-group", "name", "vpnctl-"+s.namespace+"-"+m.name).ID
}

// awayCloud: few looks, one status for each gateway, and all is well soon after.
func (s *soak) awayCloud(all []model) {
	s.t.Helper()
	mark, began := s.lab.Mark(s.t), time.Now()
	s.disturb(func(*http.Request) simulator.Fault {
		return simulator.Fault{Do: simulator.Fail, Status: http.StatusServiceUnavailable, Message: "try later"}
	})
	s.put(s.gateway(0, 2))
	lab.Await(s.t, 3*time.Minute, func(context.Context) string {
		for _, m := range all {
			if c := lab.ConditionOf(s.manifests()[m.name], "Ready"); c.Reason != "Unobserved" {
				return fmt.Sprintf("%s: %+v", m.name, c)
			}
		}
		return ""
	})
	s.put(all[0])
	time.Sleep(5 * time.Second)
	calls, took := len(s.since(began)), time.Since(began)
	if most := 200 + 10*int(took.Seconds()); calls > most {
		s.t.Errorf("%d calls to a cloud that is away, in %s", calls, took)
	}
	said := map[string]int{}
	for _, w := range s.ourWrites(mark) {
		said[w.Resource+" "+w.Name]++
	}
	for what, n := range said {
		if n > 2 {
			s.t.Errorf("%s was written %d times", what, n)
		}
	}
	s.disturb(nil)
	s.converged(3*time.Minute, all...)
	s.t.Logf("the cloud was away for %s: %d calls to it, %d writes to the cluster", took.Round(time.Second), calls, len(said))
}

// awayAPI: the API server is away for half a minute, and refuses the watches that go on
// from before, which the store has forgotten, too. The process is the same afterwards, and
// an edit is seen.
func (s *soak) awayAPI(all []model) model {
	s.t.Helper()
	began := time.Now()
	mark := s.lab.Mark(s.t)
	s.lab.Kill(s.t, lab.APIServer)
	time.Sleep(30 * time.Second)
	s.lab.Compact(s.t)
	calls := len(s.since(began))
	if calls > 60 {
		s.t.Errorf("%d calls to the cloud while nothing could be read in the cluster", calls)
	}
	s.lab.Up(s.t)
	edited := s.gateway(1, 3)
	s.put(edited)
	back := time.Now()
	s.converged(3*time.Minute, all[0], edited, all[2])
	s.t.Logf("the API server was away for half a minute: %d calls to the cloud; an edit was carried out %s after it was back", calls, time.Since(back).Round(time.Second))
	expired := 0
	for _, r := range s.lab.Requests(s.t, mark) {
		if strings.HasPrefix(r.Agent, "vpnctl/") && r.Verb == "watch" && r.Code == http.StatusGone {
			expired++
		}
	}
	s.t.Logf("%d watches had expired", expired)
	for key, was := range s.owned(edited.name) {
		if was.GetKind() == "ConfigMap" {
			if err := s.lab.Objects(s.t, "v1", "ConfigMap", s.namespace).Delete(s.t.Context(), was.GetName(), metav1.DeleteOptions{}); err != nil {
				s.t.Fatal(err)
			}
			s.back(was, "delete")
			s.t.Logf("%s is back", key)
			break
		}
	}
	return edited
}

// replicas: the first gives way when it is told to, the second dies, the third takes over.
// Each has a user of its own, so that the audit log tells who wrote what.
func (s *soak) replicas(all []model) {
	s.t.Helper()
	mark := s.lab.Mark(s.t)
	edit := func(variant int) {
		s.t.Helper()
		all[2] = s.gateway(2, variant)
		s.put(all[2])
		s.converged(2*time.Minute, all...)
	}
	edit(1)
	first := s.running
	second := s.replica("two")
	edit(2)
	began := time.Now()
	s.running = first
	s.stop()
	s.follows(time.Minute)
	s.t.Logf("told to stop, it gave way within %s", time.Since(began).Round(100*time.Millisecond))
	edit(3)
	third := s.replica("three")
	time.Sleep(2 * time.Second)
	began = time.Now()
	s.running = second
	s.kill()
	s.follows(time.Minute)
	s.t.Logf("killed, it was followed after %s; a lease lasts 15 s", time.Since(began).Round(100*time.Millisecond))
	edit(4)
	s.running = third
	var order []string
	for _, w := range s.ourWrites(mark) {
		if len(order) == 0 || order[len(order)-1] != w.User {
			order = append(order, w.User)
		}
	}
	if len(order) != 3 {
		s.t.Errorf("who wrote, one after the other: %v", order)
	}
}

// follows waits until another replica than the last one is put down in the lease.
func (s *soak) follows(limit time.Duration) {
	s.t.Helper()
	lab.Await(s.t, limit, func(context.Context) string {
		lease := s.lab.Get(s.t, "coordination.k8s.io/v1", "Lease", s.namespace, "vpnctl-reconcile-"+s.namespace)
		holder, _, _ := unstructured.NestedString(lease.Object, "spec", "holderIdentity")
		if want := fmt.Sprintf("process %d)", s.running.Process.Pid); holder == "" || strings.Contains(holder, want) {
			return "the lease is that of " + holder
		}
		return ""
	})
}

// replica starts a controller under a name of its own.
func (s *soak) replica(name string) *exec.Cmd {
	s.t.Helper()
	s.lab.Apply(s.t, []byte(strings.NewReplacer("NAMESPACE", s.namespace, "NAME", name).Replace(`apiVersion: v1
kind: ServiceAccount
metadata: {name: NAME, namespace: NAMESPACE}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: NAMESPACE-NAME}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}
subjects: [{kind: ServiceAccount, name: NAME, namespace: NAMESPACE}]
`)))
	s.t.Cleanup(func() {
		s.lab.Delete(s.t, "rbac.authorization.k8s.io/v1", "ClusterRoleBinding", "", s.namespace+"-"+name)
	})
	return s.start("--kubeconfig", s.lab.ServiceAccount(s.t, s.namespace, name))
}
