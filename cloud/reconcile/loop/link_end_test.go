package loop_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/cloud/reconcile/world"
	ipsecv1alpha1 "github.com/vpnctl/vpnctl/crds/ipsec/v1alpha1"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// TestALinkTakenApart: what another hand did to a link is repaired at the next look.
func TestALinkTakenApart(t *testing.T) {
	leg := func(f *field) string { return f.field(north, "legPortID") }
	router := func(f *field, name string) string {
		for _, o := range world.Snapshot(f.T, f.World).Of("router") {
			if o.Text("name") == name {
				return o.ID
			}
		}
		return ""
	}
	for name, tamper := range map[string]func(f *field, c world.Client){
		"the leg's tags are taken": func(f *field, c world.Client) {
			c.Put("ports/"+leg(f)+"/tags", map[string]any{"tags": []string{}})
		},
		"the leg is deleted": func(f *field, c world.Client) {
			routes := []map[string]any{}
			c.Put("routers/"+router(f, "service-cluster-router"), map[string]any{"router": map[string]any{"routes": routes}})
			c.Put("routers/"+router(f, "service-cluster-router")+"/remove_router_interface", map[string]any{"port_id": leg(f)})
		},
		"its route is removed": func(f *field, c world.Client) {
			c.Put("routers/"+router(f, "gateway-router")+"/remove_extraroutes", map[string]any{"router": map[string]any{
				"routes": []map[string]any{{"destination": "10.250.0.0/16", "nexthop": f.field(north, "transitIP")}}}})
		},
		"the ways back are removed": func(f *field, c world.Client) {
			c.Put("routers/"+router(f, "service-cluster-router"), map[string]any{"router": map[string]any{"routes": []map[string]any{}}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, f *field) {
				f.everyone()
				f.write(northern)
				c := f.controller()
				rounds(t.Context(), c)
				rounds(t.Context(), c)
				f.wantReady(north)
				before := f.Look()
				tamper(f, world.NewClient(f.World))
				if f.Look() == before {
					t.Fatal("nothing was tampered with")
				}
				rounds(t.Context(), c)
				rounds(t.Context(), c)
				f.wantReady(north)
				if diff := cmp.Diff(before, f.Look()); diff != "" {
					t.Errorf("(-before +after):\n%s", diff)
				}
			})
		})
	}
}

// TestADeletedCRDOfLinks tears no link down, and says which finalizer holds it.
func TestADeletedCRDOfLinks(t *testing.T) {
	bubble(t, func(t *testing.T, f *field) {
		f.everyone()
		f.write(northern)
		c, crds := f.controller(), &kinds{changing: vpn.KindClusterLink, uid: "first"}
		c.Definition = crds.of
		f.running(c, func() {
			time.Sleep(10 * time.Second)
			before := f.Look()
			crds.become("", nil)
			f.remove(northern)
			time.Sleep(time.Hour)
			if diff := cmp.Diff(before, f.Look()); diff != "" {
				t.Errorf("the cloud was changed (-before +after):\n%s", diff)
			}
			if got := f.ready(north); !strings.Contains(got, "take the finalizer "+ipsecv1alpha1.LinkFinalizer+" off") {
				t.Errorf("the link: %s", got)
			}
			f.wantReady(acme)
			crds.become("second", nil)
			f.wake()
			time.Sleep(10 * time.Second)
			if got := f.ready(north); got != "gone" {
				t.Errorf("its CRD stands again: %s", got)
			}
		})
	})
}

// TestLinksCountAmongTheDeleted of which only so many may be.
func TestLinksCountAmongTheDeleted(t *testing.T) {
	bubble(t, func(t *testing.T, f *field) {
		f.everyone()
		f.write(northern)
		c := f.controller()
		c.MaxDeletes = 1
		f.running(c, func() {
			time.Sleep(10 * time.Second)
			before := f.Look()
			f.remove(northern)
			f.remove(manifestsOf(t, "acme/dc1")...)
			time.Sleep(time.Minute)
			if got := f.ready(north); !strings.Contains(got, "2 gateways and links are being deleted at once, more than 1: nothing of it is removed") {
				t.Errorf("the link: %s", got)
			}
			if diff := cmp.Diff(before, f.Look()); diff != "" {
				t.Errorf("the cloud was changed (-before +after):\n%s", diff)
			}
		})
	})
}

// TestALinkThatVanishes without being seen deleted stays, and its ways back too.
func TestALinkThatVanishes(t *testing.T) {
	bubble(t, func(t *testing.T, f *field) {
		f.everyone()
		f.write(northern)
		c := f.controller()
		f.running(c, func() {
			time.Sleep(10 * time.Second)
			before := f.Look()
			f.cluster.mu.Lock()
			delete(f.manifests, north)
			f.cluster.mu.Unlock()
			f.wake()
			time.Sleep(time.Hour)
			f.wantReady(acme)
			if diff := cmp.Diff(before, f.Look()); diff != "" {
				t.Errorf("the cloud was changed (-before +after):\n%s", diff)
			}
			if page := get(t, c, "/"); !strings.Contains(page, "Orphans") || !strings.Contains(page, "ClusterLink/north") {
				t.Errorf("the page doesn't tell:\n%s", page)
			}
		})
	})
}
