package kube_test

import (
	"fmt"
	"io"
	"log/slog"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/cloud/kube/fakeapi"
	"github.com/vpnctl/vpnctl/cloud/reconcile/loop"
	"github.com/vpnctl/vpnctl/cloud/simulator"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// errand is what an account is sent to do.
type errand struct {
	start *world
	e     vpn.Estate
	o     plan.Options
}

// TestEachRightTakenAway: of every right that a run uses, either its lack is named before
// anything is written and the run would have failed, or the run can do without.
func TestEachRightTakenAway(t *testing.T) {
	for name, of := range errands(t) {
		for what, free := range map[string]func(right string) bool{
			"with what it grants": func(right string) bool { return right != "escalate roles" && right != "bind roles" },
			"and may escalate":    func(string) bool { return true },
		} {
			if name != "making" && what == "and may escalate" {
				continue // it grants nothing that another one doesn't
			}
			t.Run(name+" "+what, func(t *testing.T) {
				used := of.used(t, free)
				if len(used) < 12 {
					t.Fatalf("few rights are used: %v", used)
				}
				for n := 0; n < len(used); n += stride {
					of.without(t, used[n], func(right string) bool { return free(right) && right != used[n] })
				}
			})
		}
	}
}

// errands are a gateway's life: with a key that is made, a label that is lost, a peer that
// goes, an operator's objects that are in the way, and manifests with a finalizer; and a
// link's.
func errands(t *testing.T) map[string]errand {
	e := estate(t, "globex")
	keyed(t, e)
	empty := newWorld(t)
	full := empty.copy(t)
	if err := full.errand(errand{e: e}); err != nil {
		t.Fatal(err)
	}
	changed := full.copy(t)
	key := changed.key(e.Gateways[0])
	key.SetLabels(nil)
	changed.put(key.Object)
	config := changed.on.Get("ConfigMap", "globex", e.Gateways[0].Owner.Name+"-nat")
	disturb(config)
	changed.put(config.Object)
	held := full.copy(t)
	cr := held.on.Get(e.Gateways[0].Owner.Kind, "globex", e.Gateways[0].Owner.Name)
	cr.SetFinalizers([]string{"vpn.bnerd.net/cleanup"})
	held.put(cr.Object)
	gone := e
	gone.Gateways = nil
	acme := estate(t, "acme")
	linked := e
	linked.Links = []vpn.Link{{
		Owner: vpn.Owner{Kind: vpn.KindClusterLink, Name: "north"}, Router: "service-cluster-router", CIDR: netip.MustParsePrefix("10.250.0.0/16"),
		Manifests: []vpn.Manifest{{APIVersion: "ipsec.bnerd.net/v1alpha1", Kind: vpn.KindClusterLink, Name: "north",
			JSON: `{"apiVersion":"ipsec.bnerd.net/v1alpha1","kind":"ClusterLink","metadata":{"name":"north"},"spec":{"serviceClusterCIDR":"10.250.0.0/16","serviceClusterRouter":"service-cluster-router"}}`}},
	}}
	joined := full.copy(t)
	if err := joined.errand(errand{e: linked}); err != nil {
		t.Fatal(err)
	}
	north := joined.on.Get(vpn.KindClusterLink, "", "north")
	north.SetFinalizers([]string{"ipsec.bnerd.net/clusterlink-cleanup"})
	joined.put(north.Object)
	return map[string]errand{
		"making":   {empty, e, plan.Options{}},
		"changing": {changed, e, plan.Options{}},
		"adopting": {handedOver(t, acme, newWorld), acme, plan.Options{}},
		"linking":  {full, linked, plan.Options{}},
		"parting":  {joined, e, plan.Options{Prune: true}},
		"pruning":  {held, gone, plan.Options{Prune: true, AllowEmpty: true}},
	}
}

// used are the rights that the errand uses, sorted.
func (of errand) used(t *testing.T, free func(string) bool) []string {
	t.Helper()
	var mu sync.Mutex
	var used []string
	w := of.start.copy(t)
	w.account(func(right string) bool {
		mu.Lock()
		defer mu.Unlock()
		used = append(used, right)
		return free(right)
	})
	if err := w.errand(of); err != nil {
		t.Fatalf("with all rights: %v", err)
	}
	slices.Sort(used)
	return slices.DeleteFunc(slices.Compact(used), func(right string) bool { return !free(right) })
}

// without does the errand without a right.
func (of errand) without(t *testing.T, taken string, free func(string) bool) {
	t.Helper()
	w := of.start.copy(t)
	w.account(free)
	before, calls := w.foreign()+w.look(), len(w.sim.Calls())
	r, err := w.prepare(t.Context(), of.e, of.o)
	var lacking []string
	if err == nil {
		lacking, err = w.driver().Lacking(t.Context(), r.Plan.Pending())
	}
	if tally := simulator.Count(w.sim.Calls()[calls:]); tally.Writes > 0 || w.foreign()+w.look() != before {
		t.Errorf("%s: something was written", taken)
	}
	if err != nil {
		return // it can't even plan
	}
	failure := w.errand(of)
	switch {
	case failure == nil && len(lacking) > 0:
		t.Errorf("%s: it is said to lack %v, and can do without", taken, lacking)
	case failure != nil && len(lacking) == 0:
		t.Errorf("%s: its lack was not named, and then %v", taken, failure)
	}
}

// account lets whoever calls do what is free: a verb and a resource, as RBAC has them.
func (w *world) account(free func(right string) bool) {
	w.api.Guarded = true
	w.api.Deny(func(c fakeapi.Call) bool {
		verbs := []string{c.Verb}
		if c.Verb == "apply" {
			if verbs = []string{"patch"}; !w.api.Stands(c) {
				verbs = append(verbs, "create")
			}
		}
		return slices.ContainsFunc(verbs, func(verb string) bool {
			return !free(verb + " " + strings.TrimSuffix(c.Resource+"/"+c.Subresource, "/"))
		})
	})
}

// errand plans, carries out and tells, as apply does.
func (w *world) errand(of errand) error {
	ctx, d := w.t.Context(), w.driver()
	r, err := w.prepare(ctx, of.e, of.o)
	if err != nil {
		return err
	}
	if len(r.Plan.Refusals) > 0 {
		return fmt.Errorf("refused: %v", r.Plan.Refusals)
	}
	var said strings.Builder
	teller := &loop.Controller{Cluster: d, Herald: d, Missing: d.Missing, PublicKey: d.PublicKey, Log: slog.New(slog.NewTextHandler(io.Writer(&said), nil))}
	if failures, err := teller.Farewell(ctx, r); err != nil || failures > 0 {
		return fmt.Errorf("saying farewell: %d failures, %w: %s", failures, err, said.String())
	}
	report := r.Apply(ctx, cloud.Execution{Parallelism: 1, Now: now})
	if err := report.Err(); err != nil {
		return err
	}
	rollouts, err := d.Rollouts(ctx, of.e.Name)
	if err != nil {
		return err
	}
	failures, err := teller.Tell(ctx, r, report, rollouts)
	if err == nil && failures > 0 {
		err = fmt.Errorf("%d statuses: %s", failures, said.String())
	}
	return err
}
