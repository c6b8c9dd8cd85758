//go:build e2e

package main

import "strings"

// planInCluster compares with the cluster, where the engine has put labels on every
// object and owns its fields, as if the estate's target were the cluster: nothing of
// what was rendered may differ.
func (s *synced) planInCluster() {
	s.t.Helper()
	s.file("inside/vpnctl.yaml", estateOf(s.namespace, "target: cluster")+"  monitoring: {podMonitor: true, prometheusRule: true}\n")
	out := s.vpnctl("plan", "--detailed-exitcode", "--only", "kubernetes", "--estate", s.path("inside/vpnctl.yaml"), "--kubeconfig", s.lab.Kubeconfig)
	if !strings.Contains(out, "Plan: no changes") {
		s.t.Errorf("beside the engine, the plan for the cluster is not empty:\n%s", out)
	}
}
