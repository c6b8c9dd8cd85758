//go:build e2e

package main

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/vpnctl/vpnctl/cloud/kube/lab"
)

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
