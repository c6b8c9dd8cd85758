//go:build e2e

package main

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/vpnctl/vpnctl/cloud/kube/lab"
	"github.com/vpnctl/vpnctl/cloud/simulator"
)

// othersAreRefused: an object of another hand that stands where a gateway's should is
// named, and stays as it is until that hand removes it.
func (s *soak) othersAreRefused() {
	s.t.Helper()
	m := s.gateway(3, 0)
	text := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + m.name + "-nat, namespace: " + s.namespace + "}\ndata: {mine: \"1\"}\n"
	s.lab.Apply(s.t, []byte(text))
	before := s.lab.Get(s.t, "v1", "ConfigMap", s.namespace, m.name+"-nat")
	s.put(m)
	s.start("--resync", "5s")
	lab.Await(s.t, time.Minute, func(context.Context) string {
		c := lab.ConditionOf(s.manifests()[m.name], "Ready")
		if c.Status != "False" || !strings.Contains(c.Message, "not ours") || !strings.Contains(c.Message, "made by lab") {
			return fmt.Sprintf("%+v", c)
		}
		return ""
	})
	time.Sleep(3 * time.Second)
	if now := s.lab.Get(s.t, "v1", "ConfigMap", s.namespace, m.name+"-nat"); now.GetResourceVersion() != before.GetResourceVersion() {
		s.t.Errorf("it was written: %v", now)
	}
	s.lab.Delete(s.t, "v1", "ConfigMap", s.namespace, m.name+"-nat")
	s.converged(3*time.Minute, append(s.othersThan(m), m)...)
	s.drop(m)
	lab.Await(s.t, time.Minute, func(context.Context) string {
		if s.manifests()[m.name] != nil {
			return m.name + " is still there"
		}
		return ""
	})
	s.stop()
}

// aDryRunWritesNothing, although there is something to do.
func (s *soak) aDryRunWritesNothing() {
	s.t.Helper()
	m := s.gateway(4, 0)
	s.put(m)
	mark, began := s.lab.Mark(s.t), time.Now()
	s.start("--dry-run", "--resync", "1s")
	lab.Await(s.t, time.Minute, func(context.Context) string {
		if len(s.since(began)) < 20 {
			return "it doesn't look"
		}
		return ""
	})
	s.stop()
	for _, w := range s.lab.Writes(s.t, mark) {
		if strings.HasPrefix(w.Agent, "vpnctl/") {
			s.t.Errorf("a dry run: %s", w)
		}
	}
	for _, c := range s.since(began) {
		if c.writes() {
			s.t.Errorf("a dry run: %s %s", c.method, c.path)
		}
	}
}

// aStopInTheMiddle of a run ends in good order: no lock and no lease are left, and the next
// controller goes on.
func (s *soak) aStopInTheMiddle() {
	s.t.Helper()
	more := []model{s.gateway(4, 0), s.gateway(5, 0), s.gateway(6, 0), s.gateway(7, 0)}
	for _, m := range more {
		s.put(m)
	}
	began := time.Now()
	s.disturb(func(r *http.Request) simulator.Fault {
		if r.Method == http.MethodGet {
			return simulator.Fault{}
		}
		return simulator.Fault{Do: simulator.Delay, Wait: 200 * time.Millisecond}
	})
	s.start()
	lab.Await(s.t, time.Minute, func(context.Context) string {
		if n := len(slices.DeleteFunc(s.since(began), func(c cloudCall) bool { return !c.writes() })); n < 5 {
			return "it doesn't begin"
		}
		return ""
	})
	s.stop()
	s.disturb(nil)
	for _, p := range s.look().cloud.Of("port") {
		if strings.HasPrefix(p.Text("name"), "vpnctl-lock-") {
			s.t.Errorf("port %s was left", p.Text("name"))
		}
	}
	lease := s.lab.Get(s.t, "coordination.k8s.io/v1", "Lease", s.namespace, "vpnctl-reconcile-"+s.namespace)
	if holder, _, _ := unstructured.NestedString(lease.Object, "spec", "holderIdentity"); holder != "" {
		s.t.Errorf("the lease is still that of %s", holder)
	}
	if len(s.owned(more[3].name)) > 8 {
		s.t.Error("it was not in the middle")
	}
	rest := s.othersThan(more[0])
	s.start()
	s.converged(3*time.Minute, append(rest, more[0])...)
	for _, m := range more {
		s.drop(m)
	}
	lab.Await(s.t, 2*time.Minute, func(context.Context) string {
		if n := len(s.manifests()); n != 3 {
			return fmt.Sprintf("%d gateways stand", n)
		}
		return ""
	})
}

// theOrderOfARemoval: its status, its children, the cloud, the finalizer.
func (s *soak) theOrderOfARemoval(m model) {
	s.t.Helper()
	port := s.look().one("port", "name", "vpnctl-"+s.namespace+"-"+m.name).ID
	mark, began := s.lab.Mark(s.t), time.Now()
	s.drop(m)
	lab.Await(s.t, 2*time.Minute, func(context.Context) string {
		if s.manifests()[m.name] != nil {
			return m.name + " is still there"
		}
		return ""
	})
	var said, gone, children, released time.Time
	for _, r := range s.lab.Requests(s.t, mark) {
		switch {
		case r.Namespace != s.namespace || !strings.HasPrefix(r.Agent, "vpnctl/"):
		case r.Resource == strings.ToLower(m.kind)+"s/status" && said.IsZero():
			said = r.Time
		case r.Resource == strings.ToLower(m.kind)+"s" && r.Verb == "patch":
			released = r.Time
		case r.Verb == "delete":
			children = r.Time
		case r.Verb == "get" && r.Resource == "deployments" && r.Code == http.StatusNotFound && gone.IsZero():
			gone = r.Time
		}
	}
	first, last := time.Time{}, time.Time{}
	for _, c := range s.since(began) {
		if c.writes() && !c.locks(port) {
			if first.IsZero() {
				first = c.at
			}
			last = c.at
		}
	}
	order := []time.Time{said, children, gone, first, last, released}
	names := []string{"its status", "its last child is deleted", "its Deployment is gone", "the first write to the cloud", "the last one", "its finalizer"}
	for i, at := range order {
		if at.IsZero() {
			s.t.Errorf("%s: never", names[i])
		} else if i > 0 && at.Before(order[i-1]) && i != 2 {
			s.t.Errorf("%s came %s before %s", names[i], order[i-1].Sub(at), names[i-1])
		}
	}
	if first.Before(gone) {
		s.t.Errorf("the cloud was touched %s before the Deployment was gone", gone.Sub(first))
	}
}

// locks tells whether a call makes or deletes a port that is not a gateway's: the
// estate's lock.
func (c cloudCall) locks(port string) bool {
	made := c.method == http.MethodPost && strings.HasSuffix(c.path, "/ports")
	gone := c.method == http.MethodDelete && strings.Contains(c.path, "/ports/") && !strings.HasSuffix(c.path, "/"+port)
	return made || gone
}
