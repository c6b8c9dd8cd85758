package loop_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/cloud/reconcile/world"
	"github.com/vpnctl/vpnctl/cloud/simulator"
	vpnv1alpha1 "github.com/vpnctl/vpnctl/crds/vpn/v1alpha1"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

const (
	acme   = "VPNGateway acme/dc1"
	plant1 = "VPNPeer acme/plant1"
)

// TestAGatewaysLife creates, changes and deletes a gateway by its manifests alone.
func TestAGatewaysLife(t *testing.T) {
	bubble(t, func(t *testing.T, f *field) {
		f.running(f.controller(), func() {
			m := manifestsOf(t, "acme/dc1")
			f.write(m...)
			time.Sleep(10 * time.Second)
			f.wantReady(acme)
			if got := f.status(plant1, vpnv1alpha1.ConditionAuthorized); !strings.HasPrefix(got, "True") {
				t.Errorf("its peer: %s", got)
			}
			before := f.all()
			f.write(edited(t, m[0], `"name":"web"`, `"name":"web2"`))
			time.Sleep(10 * time.Second)
			f.wantReady(acme)
			if f.all() == before {
				t.Error("a new exposure changed nothing")
			}
			objects := f.made()
			f.remove(m...)
			time.Sleep(10 * time.Second)
			if got := f.ready(acme); got != "gone" || objects == 0 || f.made() > 0 {
				t.Errorf("ten seconds after it was deleted: %s, %d of %d objects", got, f.made(), objects)
			}
		})
		if got := f.all(); strings.Contains(got, "vpnctl") {
			t.Errorf("something was left:\n%s", got)
		}
	})
}

// TestAllExamplesConverge makes every gateway of the examples, IPsec and WireGuard, of
// both groups, and leaves nothing to do.
func TestAllExamplesConverge(t *testing.T) {
	bubble(t, func(t *testing.T, f *field) {
		keys := f.everyone()
		c := f.controller()
		rounds(t.Context(), c)
		rounds(t.Context(), c) // the Deployments that were just written run by now
		for _, key := range keys {
			f.wantReady(key)
		}
		before, said := f.all(), f.statuses()
		f.Sim.Reset()
		c.Round(t.Context())
		if diff := cmp.Diff(before, f.all()); diff != "" || f.statuses() != said {
			t.Errorf("a round with nothing to do, %d statuses written (-before +after):\n%s", f.statuses()-said, diff)
		}
		tally := simulator.Count(f.Sim.Calls())
		if tally.Writes > 0 || tally.Reads > 15 {
			t.Errorf("a round with nothing to do makes %d reads and %d writes: %v", tally.Reads, tally.Writes, tally.By)
		}
		t.Logf("a round with nothing to do: %d calls to the cloud", tally.Reads)
	})
}

// TestAnInvalidPeerKeepsItsGateway: one peer that is not valid leaves the gateway whole,
// says why on both, and is no reason to let others in. Once it is valid, all goes on.
func TestAnInvalidPeerKeepsItsGateway(t *testing.T) {
	atRest(t, func(t *testing.T, f *field) {
		before := f.objectsOf(acme)
		peer := manifestsOf(t, "acme/dc1")[1]
		f.write(edited(t, peer, `"address":"`, `"address":"x`))
		time.Sleep(10 * time.Second)
		if got := f.ready(acme); !strings.HasPrefix(got, "False RenderInputFailed: ") || !strings.Contains(got, "plant1") {
			t.Errorf("the gateway: %s", got)
		}
		if got := f.status(plant1, vpnv1alpha1.ConditionAuthorized); !strings.HasPrefix(got, "False InvalidSpec: ") {
			t.Errorf("the peer: %s", got)
		}
		if diff := cmp.Diff(before, f.objectsOf(acme)); diff != "" {
			t.Errorf("the gateway was changed (-before +after):\n%s", diff)
		}
		said := f.statuses()
		time.Sleep(time.Hour)
		if n := f.statuses() - said; n > 0 {
			t.Errorf("%d statuses were written in an hour without news", n)
		}
		f.write(peer)
		time.Sleep(10 * time.Second)
		f.wantReady(acme)
	})
}

// TestAGatewayThatWasNeverValid is made once it is, and can be deleted before.
func TestAGatewayThatWasNeverValid(t *testing.T) {
	for name, end := range map[string]func(t *testing.T, f *field, good []vpn.Manifest){
		"mended": func(t *testing.T, f *field, good []vpn.Manifest) {
			f.write(good...)
			time.Sleep(10 * time.Second)
			f.wantReady(acme)
		},
		"deleted": func(t *testing.T, f *field, good []vpn.Manifest) {
			f.remove(good...)
			time.Sleep(10 * time.Second)
			if got := f.ready(acme); got != "gone" {
				t.Errorf("ten seconds after it was deleted: %s", got)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, f *field) {
				f.running(f.controller(), func() {
					good := manifestsOf(t, "acme/dc1")
					f.write(edited(t, good[0], `"address":"`, `"address":"x`), good[1])
					time.Sleep(10 * time.Second)
					if got := f.ready(acme); !strings.HasPrefix(got, "False InvalidSpec: ") {
						t.Fatalf("not valid: %s", got)
					}
					end(t, f, good)
				})
			})
		})
	}
}

// TestAManifestThatVanishes: without its finalizer a manifest can go without being seen
// deleted. Nothing of the gateway is removed then, until it is there again.
func TestAManifestThatVanishes(t *testing.T) {
	bubble(t, func(t *testing.T, f *field) {
		f.everyone()
		c := f.controller()
		f.running(c, func() {
			time.Sleep(10 * time.Second)
			before := f.Look()
			f.cluster.mu.Lock()
			delete(f.manifests, acme)
			f.cluster.mu.Unlock()
			f.wake()
			time.Sleep(time.Hour)
			if diff := cmp.Diff(before, f.Look()); diff != "" {
				t.Errorf("the cloud was changed (-before +after):\n%s", diff)
			}
			if page := get(t, c, "/"); !strings.Contains(page, "Orphans") || !strings.Contains(page, "VPNGateway/acme/dc1") {
				t.Errorf("the page doesn't tell:\n%s", page)
			}
			if m := get(t, c, "/metrics"); !strings.Contains(m, "\nvpnctl_reconcile_orphans 1\n") {
				t.Errorf("the metrics don't tell:\n%s", m)
			}
			f.write(manifestsOf(t, "acme/dc1")...)
			time.Sleep(10 * time.Second)
			f.wantReady(acme)
			if diff := cmp.Diff(before, f.Look()); diff != "" {
				t.Errorf("its addresses moved (-before +after):\n%s", diff)
			}
		})
	})
}

// TestABrokenEstateFile: the last good one counts, and it is said that it does.
func TestABrokenEstateFile(t *testing.T) {
	for name, broken := range map[string]string{
		"not YAML":         "{",
		"a wrong field":    strings.Replace(clusterEstate, "serviceCIDRPool", "serviceCIDRPol", 1),
		"another Estate":   strings.Replace(clusterEstate, "name: acme", "name: other", 1),
		"another cloud":    strings.Replace(clusterEstate, "cloud: operator", "cloud: other", 1),
		"files, not a CR":  strings.Replace(clusterEstate, "target: cluster", "target: directory, directory: deploy, nodes: [{name: n, serverID: c3f0ea92-3c32-4141-bf59-214fe50dcac9}]", 1),
		"gone, for a time": "",
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, f *field) {
				f.write(manifestsOf(t, "acme/dc1")...)
				c := f.controller()
				f.running(c, func() {
					time.Sleep(10 * time.Second)
					f.wantReady(acme)
					f.estateFile(broken)
					if broken == "" {
						os.Remove(f.file)
					}
					for _, g := range world.Estate(t).Gateways {
						f.write(g.Manifests...)
					}
					time.Sleep(10 * time.Second)
					f.wantReady(acme)
					f.wantReady("VPNGateway globex/remote")
					if page := get(t, c, "/"); !strings.Contains(page, "The last good Estate counts") {
						t.Errorf("the page doesn't tell:\n%s", page)
					}
					f.estateFile(clusterEstate)
					f.wake()
					time.Sleep(10 * time.Second)
					if page := get(t, c, "/"); strings.Contains(page, "The last good Estate counts") {
						t.Error("the page still tells, though the file is good again")
					}
				})
			})
		})
	}
}

// TestDriftIsRepaired puts back what another hand changed, in the cloud and in the
// cluster, at the next look.
func TestDriftIsRepaired(t *testing.T) {
	atRest(t, func(t *testing.T, f *field) {
		before := f.all()
		f.cluster.mu.Lock()
		for id, r := range f.objects { // of every kind
			o := *r.Object
			o.Content += "tampered: true\n"
			r.Object = &o
			f.objects[id] = r
		}
		f.cluster.mu.Unlock()
		for _, p := range world.Snapshot(t, f.World).Of("port") {
			if strings.HasPrefix(p.Text("name"), "vpnctl-") {
				world.NewClient(f.World).Put("ports/"+p.ID, map[string]any{"port": map[string]any{"allowed_address_pairs": []any{}}})
			}
		}
		if f.all() == before {
			t.Fatal("nothing was tampered with")
		}
		f.wake()
		time.Sleep(10 * time.Second)
		if diff := cmp.Diff(before, f.all()); diff != "" {
			t.Errorf("ten seconds later (-before +after):\n%s", diff)
		}
	})
}

// TestANodeThatIsNotReady: its gateways move, the others stay.
func TestANodeThatIsNotReady(t *testing.T) {
	bubble(t, func(t *testing.T, f *field) {
		keys := f.everyone()
		f.running(f.controller(), func() {
			time.Sleep(10 * time.Second)
			before := map[string]string{}
			for _, key := range keys {
				before[key] = f.field(key, "nodeName")
			}
			lost := before[acme]
			f.cluster.mu.Lock()
			for i := range f.nodes {
				if f.nodes[i].Name == lost {
					f.nodes[i].Ready, f.nodes[i].Problem = false, "is not Ready"
				}
			}
			f.cluster.mu.Unlock()
			f.wake()
			time.Sleep(30 * time.Second)
			for _, key := range keys {
				f.wantReady(key)
				switch now := f.field(key, "nodeName"); {
				case now == lost:
					t.Errorf("%s is still on %s", key, lost)
				case before[key] != lost && now != before[key]:
					t.Errorf("%s moved from %s to %s for no reason", key, before[key], now)
				}
			}
		})
	})
}

// TestADryRunWritesNothing plans and reports, and that is all.
func TestADryRunWritesNothing(t *testing.T) {
	bubble(t, func(t *testing.T, f *field) {
		f.everyone()
		before := f.all()
		c := f.controller()
		c.DryRun = true
		f.running(c, func() {
			time.Sleep(time.Hour)
			if page := get(t, c, "/"); !strings.Contains(page, "openstack.port/acme/dc1") {
				t.Errorf("the page doesn't show the plan:\n%s", page)
			}
			if m := get(t, c, "/metrics"); strings.Contains(m, "vpnctl_reconcile_pending_changes 0\n") {
				t.Error("the metrics say that nothing is pending")
			}
		})
		if diff := cmp.Diff(before, f.all()); diff != "" || f.statuses() > 0 || len(f.events) > 0 {
			t.Errorf("%d statuses, %d events (-before +after):\n%s", f.statuses(), len(f.events), diff)
		}
		for _, call := range f.Sim.Calls() {
			if call.Write() {
				t.Errorf("%s %s", call.Method, call.Path)
			}
		}
	})
}
