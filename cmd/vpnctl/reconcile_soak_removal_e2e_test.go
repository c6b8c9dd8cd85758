//go:build e2e

package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vpnctl/vpnctl/cloud/kube/lab"
	"github.com/vpnctl/vpnctl/cloud/simulator"
)

// theOrderOfARemoval: its status, its children, the cloud, the finalizer. The calls to the
// cluster follow each other in its audit log; before each write to the cloud is carried
// out, the cluster is asked what stands there by then.
func (s *soak) theOrderOfARemoval(m model) {
	s.t.Helper()
	port := s.look().one("port", "name", "vpnctl-"+s.namespace+"-"+m.name).ID
	var mu sync.Mutex
	var writes, wrong []string
	s.disturb(func(r *http.Request) simulator.Fault {
		call := cloudCall{method: r.Method, path: r.URL.Path}
		if !call.writes() || call.locks(port) {
			return simulator.Fault{}
		}
		early := s.tooEarly(m)
		mu.Lock()
		defer mu.Unlock()
		writes = append(writes, r.Method+" "+r.URL.Path)
		if early != "" {
			wrong = append(wrong, r.Method+" "+r.URL.Path+": "+early)
		}
		return simulator.Fault{}
	})
	mark := s.lab.Mark(s.t)
	s.drop(m)
	lab.Await(s.t, 2*time.Minute, func(context.Context) string {
		if s.manifests()[m.name] != nil {
			return m.name + " is still there"
		}
		return ""
	})
	s.disturb(nil)
	mu.Lock()
	defer mu.Unlock()
	for _, w := range wrong {
		s.t.Error(w)
	}
	if len(writes) < 3 {
		s.t.Errorf("the cloud was written to %d times: %v", len(writes), writes)
	}
	s.inOrder(m, s.lab.Requests(s.t, mark))
}

// tooEarly says why nothing in the cloud may be touched yet; empty: it may.
func (s *soak) tooEarly(m model) string {
	ctx := s.t.Context()
	u, err := s.lab.Objects(s.t, m.apiVersion(), m.kind, s.namespace).Get(ctx, m.name, metav1.GetOptions{})
	switch {
	case err != nil:
		return "its manifest: " + err.Error()
	case u.GetDeletionTimestamp() == nil || len(u.GetFinalizers()) == 0:
		return fmt.Sprintf("its manifest is being deleted at %v, with finalizers %v", u.GetDeletionTimestamp(), u.GetFinalizers())
	case lab.ConditionOf(u, "Ready").Reason != "Deleting":
		return fmt.Sprintf("its status says %+v", lab.ConditionOf(u, "Ready"))
	}
	if _, err := s.lab.Objects(s.t, "apps/v1", "Deployment", s.namespace).Get(ctx, m.name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		return fmt.Sprintf("its Deployment is there, or not known: %v", err)
	}
	return ""
}

// inOrder wants the calls to the cluster to follow each other as a removal has to go.
func (s *soak) inOrder(m model, all []lab.Request) {
	s.t.Helper()
	said, first, last, released := -1, -1, -1, -1
	for i, r := range all {
		switch {
		case r.Namespace != s.namespace || !strings.HasPrefix(r.Agent, "vpnctl/"):
		case r.Resource == strings.ToLower(m.kind)+"s/status" && said < 0:
			said = i
		case r.Resource == strings.ToLower(m.kind)+"s" && r.Verb == "patch":
			released = i
		case r.Verb == "delete":
			last = i
			if first < 0 {
				first = i
			}
		}
	}
	if said < 0 || said > first || first > last || last > released {
		s.t.Errorf("its status was written in call %d, its children were deleted in %d to %d, its finalizer was taken off in %d: %v", said, first, last, released, all)
	}
}

// locks tells whether a call makes or deletes a port that is not a gateway's: the
// estate's lock.
func (c cloudCall) locks(port string) bool {
	made := c.method == http.MethodPost && strings.HasSuffix(c.path, "/ports")
	gone := c.method == http.MethodDelete && strings.Contains(c.path, "/ports/") && !strings.HasSuffix(c.path, "/"+port)
	return made || gone
}
