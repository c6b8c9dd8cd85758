//go:build e2e

package main

import (
	"context"
	"log/slog"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/cloud/kube"
	"github.com/vpnctl/vpnctl/cloud/kube/lab"
	"github.com/vpnctl/vpnctl/cloud/openstack"
	"github.com/vpnctl/vpnctl/cloud/reconcile/loop"
	"github.com/vpnctl/vpnctl/render/controller"
)

// TestKubeSoakClockSteps: the controller's clock, and the cloud's, are set forward and
// back by an hour. Nothing is written for that, nothing is asked more often, the lease
// stays whose it was, and an edit is carried out as ever.
func TestKubeSoakClockSteps(t *testing.T) {
	s := newSoak(t, asItIs)
	var ahead atomic.Int64
	end := s.inProcess(func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) })
	defer end()
	all := []model{s.gateway(0, 0), s.gateway(1, 0)}
	for _, m := range all {
		s.put(m)
	}
	s.converged(3*time.Minute, all...)
	turns := s.turns()
	for i, step := range []struct {
		sentence    string
		here, there time.Duration
	}{
		{"the clock here goes forward", time.Hour, 0},
		{"and back", -time.Hour, 0},
		{"the cloud's goes forward", 0, time.Hour},
		{"and back", 0, -time.Hour},
		{"both go back", -time.Hour, -time.Hour},
	} {
		s.settled()
		ahead.Store(int64(step.here))
		s.ahead.Store(int64(step.there))
		began := time.Now()
		s.quietly(5 * time.Second)
		if calls, most := len(s.since(began)), 15*(2+int(time.Since(began)/clockResync)); calls > most {
			t.Errorf("%s: %d calls to the cloud in %s, want at most %d", step.sentence, calls, time.Since(began), most)
		}
		all[0] = s.gateway(0, i+1)
		s.put(all[0])
		s.converged(time.Minute, all...)
		for _, wrong := range append(s.lies(true), s.leaks()...) {
			t.Errorf("%s: %s", step.sentence, wrong)
		}
		if now := s.turns(); now != turns {
			t.Errorf("%s: the lease has changed hands: %d turns, were %d", step.sentence, now, turns)
		}
	}
	for _, m := range all {
		s.drop(m)
	}
	s.converged(5 * time.Minute)
	end()
	s.empty()
}

// clockResync is how often the controller in this process looks without a reason.
const clockResync = 2 * time.Second

// inProcess runs a controller in this process, as vpnctl reconcile does, by another clock,
// until it is told to end. It may be told again.
func (s *soak) inProcess(now func() time.Time) (end func()) {
	s.t.Helper()
	cluster, _, err := kube.Connect(kube.Access{Kubeconfig: s.lab.Kubeconfig, UserAgent: "vpnctl/clock"}, kube.Options{Gone: goneWithin, Now: now})
	if err != nil {
		s.t.Fatal(err)
	}
	driver, err := openstack.Connect(s.t.Context(), openstack.Options{
		Cloud: "operator", ConfigFile: filepath.Join(s.dir, "clouds.yaml"), Env: func(string) string { return "" }, DetachTimeout: attachedWithin,
	})
	if err != nil {
		s.t.Fatal(err)
	}
	stop, ended := make(chan struct{}), make(chan error, 1)
	c := &loop.Controller{
		EstateFile: filepath.Join(s.dir, "vpnctl.yaml"), Cluster: cluster, Herald: cluster, Drivers: []cloud.Driver{driver, cluster}, Locker: driver, Holder: "clock",
		Missing: cluster.Missing, PublicKey: cluster.PublicKey, Definition: cluster.Definition, Resync: clockResync, Stop: stop, Log: slog.New(slog.NewTextHandler(&s.log, nil)),
	}
	lease := kube.Lease{Namespace: s.namespace, Name: controller.LeaseName(s.namespace), Estate: s.namespace, Identity: "clock"}
	go func() {
		ended <- cluster.Lead(context.WithoutCancel(s.t.Context()), lease, func(ctx context.Context, before string) error {
			watching, cancel := context.WithCancel(ctx)
			changes := cluster.Changes(watching, s.namespace, kube.Watching{Named: c.Names, Denied: c.Deaf})
			c.Ended, c.Changes = before, changes
			c.Run(ctx)
			cancel()
			for range changes {
			}
			return nil
		})
	}()
	stopped := false
	return func() {
		if stopped {
			return
		}
		stopped = true
		close(stop)
		if err := <-ended; err != nil {
			s.t.Error(err)
		}
		if s.t.Failed() {
			s.t.Logf("the controller's log:\n%s", s.log.String())
		}
	}
}

// turns is how often the lease has changed hands.
func (s *soak) turns() int64 {
	s.t.Helper()
	lease := s.lab.Get(s.t, "coordination.k8s.io/v1", "Lease", s.namespace, controller.LeaseName(s.namespace))
	if lease == nil {
		s.t.Fatal("there is no lease")
	}
	n, _, _ := unstructured.NestedInt64(lease.Object, "spec", "leaseTransitions")
	return n
}

// settled waits until nothing is written any more of what was seen before.
func (s *soak) settled() {
	s.t.Helper()
	lab.Await(s.t, time.Minute, func(context.Context) string {
		mark := s.lab.Mark(s.t)
		time.Sleep(2 * time.Second)
		if w := s.ourWrites(mark); len(w) > 0 {
			return w[0].String()
		}
		return ""
	})
}
