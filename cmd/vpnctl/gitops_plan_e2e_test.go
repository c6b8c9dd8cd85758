//go:build e2e

package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/vpnctl/vpnctl/cloud/kube"
)

// owners are patches for the Estate that put the annotation on every object by which a
// cluster's objects are known, so that they can be compared with those of a plan for it.
func (s *synced) owners(without []string) string {
	text := "  patches:\n"
	for _, g := range []struct{ customer, kind, name string }{{"acme", "VPNGateway", "dc1"}, {"globex", "VPNGateway", "remote"}, {"initech", "IPsecGateway", "old"}} {
		if !slices.Contains(without, g.customer) {
			text += fmt.Sprintf("  - target: {labelSelector: vpn.bnerd.net/gateway=%[3]s}\n    patch: '{apiVersion: any, kind: any, metadata: {name: any, annotations: {%[4]s: %[2]s/%[1]s/%[3]s}}}'\n",
				s.customers[g.customer], g.kind, g.name, kube.OwnerAnnotation)
		}
	}
	return text
}

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
