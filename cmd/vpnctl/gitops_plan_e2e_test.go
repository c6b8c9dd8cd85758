//go:build e2e

package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/cloud/kube"
	"github.com/vpnctl/vpnctl/cloud/openstack"
	"github.com/vpnctl/vpnctl/cloud/reconcile"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/manifest"
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
	estate := estateOf(s.namespace, "target: cluster") + "  monitoring: {podMonitor: true, prometheusRule: true}\n"
	s.file("inside/vpnctl.yaml", estate)
	read, found := manifest.Load([]string{s.path("checkout/gateways")}, manifest.Options{EstateFile: s.path("inside/vpnctl.yaml")})
	if found.Errors() > 0 {
		s.t.Fatal(found)
	}
	s.t.Setenv("OS_CLIENT_CONFIG_FILE", s.path("clouds.yaml"))
	project, err := openstack.Connect(s.t.Context(), openstack.Options{Cloud: "operator"})
	if err != nil {
		s.t.Fatal(err)
	}
	objects, _, err := kube.Connect(kube.Access{Kubeconfig: s.lab.Kubeconfig}, kube.Options{})
	if err != nil {
		s.t.Fatal(err)
	}
	result, err := reconcile.Plan(s.t.Context(), reconcile.Input{
		Estate: read.Estate, Manifests: 1, Drivers: []cloud.Driver{project, objects}, Options: plan.Options{Hold: plan.DefaultHold}, Now: time.Now(),
	})
	if err != nil {
		s.t.Fatal(err)
	}
	for _, c := range result.Plan.Changes {
		if strings.HasPrefix(c.ID.String(), "openstack.applied/") {
			continue // a record of what was applied, which files were
		}
		s.t.Errorf("beside the engine, %s %s: %s %+v", c.Action, c.ID, c.Reason, c.Attributes)
	}
	for _, r := range result.Plan.Refusals {
		s.t.Errorf("refused: %+v", r)
	}
}
