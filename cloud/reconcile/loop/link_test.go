package loop_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/cloud/kube/fakeapi"
	"github.com/vpnctl/vpnctl/cloud/reconcile/world"
	"github.com/vpnctl/vpnctl/cloud/simulator"
	ipsecv1alpha1 "github.com/vpnctl/vpnctl/crds/ipsec/v1alpha1"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

const (
	north        = "ClusterLink /north"
	northernCIDR = "10.250.0.0/16"
)

// northern is a link to the service cluster of our own project.
var northern = vpn.Manifest{APIVersion: "ipsec.bnerd.net/v1alpha1", Kind: vpn.KindClusterLink, Name: "north",
	JSON: `{"apiVersion":"ipsec.bnerd.net/v1alpha1","kind":"ClusterLink","metadata":{"name":"north"},"spec":{"serviceClusterCIDR":"` + northernCIDR + `","serviceClusterRouter":"service-cluster-router"}}`}

// routes are how many static routes a router has.
func (f *field) routes(router string) int {
	f.T.Helper()
	for _, o := range world.Snapshot(f.T, f.World).Of("router") {
		if o.Text("name") == router {
			routes, _ := o.Attributes["routes"].([]any)
			return len(routes)
		}
	}
	f.T.Fatalf("there is no router %s", router)
	return 0
}

// leads tells whether a router has a route to a network.
func (f *field) leads(router, to string) bool {
	for _, o := range world.Snapshot(f.T, f.World).Of("router") {
		if routes, _ := o.Attributes["routes"].([]any); o.Text("name") == router {
			return slices.ContainsFunc(routes, func(r any) bool { return r.(map[string]any)["destination"] == to })
		}
	}
	f.T.Fatalf("there is no router %s", router)
	return false
}

// backs are how many ways back a link's status tells of.
func (c *cluster) backs(key string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return strings.Count(string(c.manifests[key].Status), `"gatewayRef"`)
}

// told are the events of a manifest.
func (c *cluster) told(key string) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []string
	for _, e := range c.events {
		if strings.HasPrefix(e, key+" ") {
			all = append(all, e)
		}
	}
	return all
}

// TestALinksLife: a link joins gateways that stand and ways back lead to them, gateways
// come and go beside it, and it goes without a trace.
func TestALinksLife(t *testing.T) {
	atRest(t, func(t *testing.T, f *field) {
		before := f.Look()
		f.write(northern)
		time.Sleep(10 * time.Second)
		f.wantReady(north)
		for _, kind := range []string{"Validated", "LegAttached", "RouteInstalled", "ReverseRoutesInstalled"} {
			if got := f.status(north, kind); !strings.HasPrefix(got, "True ") {
				t.Errorf("%s: %s", kind, got)
			}
		}
		if ip, port := f.field(north, "transitIP"), f.field(north, "legPortID"); ip != "10.254.0.3" || port == "" {
			t.Errorf("its status has the address %q and the port %q", ip, port)
		}
		if diff := cmp.Diff([]string{north + " Normal Pending", north + " Normal Ready"}, f.told(north)); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
		back := f.backs(north)
		if n := f.routes("service-cluster-router"); n == 0 || n != back {
			t.Errorf("%d ways back, and its status tells of %d", n, back)
		}
		f.remove(manifestsOf(t, "acme/dc1")...)
		time.Sleep(10 * time.Second)
		if n := f.backs(north); f.ready(acme) != "gone" || n != back-1 || f.routes("service-cluster-router") != n {
			t.Errorf("a gateway was deleted, which is %s: its status tells of %d ways back, and there are %d", f.ready(acme), n, f.routes("service-cluster-router"))
		}
		f.write(manifestsOf(t, "acme/dc1")...)
		time.Sleep(10 * time.Second)
		f.wantReady(acme)
		if n := f.routes("service-cluster-router"); n != back {
			t.Errorf("it came again: %d ways back, not %d", n, back)
		}
		said := f.statuses()
		time.Sleep(time.Hour)
		if n := f.statuses() - said; n > 0 {
			t.Errorf("%d statuses were written in an hour without news", n)
		}
		f.remove(northern)
		time.Sleep(10 * time.Second)
		if got := f.ready(north); got != "gone" {
			t.Errorf("ten seconds after it was deleted: %s", got)
		}
		if diff := cmp.Diff(before, f.Look()); diff != "" {
			t.Errorf("something is left or gone (-before +after):\n%s", diff)
		}
	})
}

// TestALinkIsShown on the page and in the metrics, apart from gateways.
func TestALinkIsShown(t *testing.T) {
	bubble(t, func(t *testing.T, f *field) {
		f.write(northern)
		c := f.controller()
		f.running(c, func() {
			time.Sleep(10 * time.Second)
			if page := get(t, c, "/"); !strings.Contains(page, "<h2>Links</h2>") || !strings.Contains(page, "<td>10.254.0.3</td>") || !strings.Contains(page, "LegAttached") {
				t.Errorf("the page doesn't tell:\n%s", page)
			}
			m := get(t, c, "/metrics")
			for _, line := range []string{`vpnctl_reconcile_links{ready="true"} 1`, `vpnctl_reconcile_gateways{ready="true"} 0`} {
				if !strings.Contains(m, "\n"+line+"\n") {
					t.Errorf("no %s in the metrics:\n%s", line, m)
				}
			}
		})
	})
}

// TestALinkThatIsNotValid keeps what stands, and can be mended or deleted.
func TestALinkThatIsNotValid(t *testing.T) {
	bubble(t, func(t *testing.T, f *field) {
		f.everyone()
		f.write(northern)
		f.running(f.controller(), func() {
			time.Sleep(10 * time.Second)
			before := f.Look()
			f.write(edited(t, northern, `"serviceClusterRouter":"service-cluster-router"`, `"serviceClusterRouter":"service-cluster-router","transitIP":"x"`))
			time.Sleep(10 * time.Minute)
			if got := f.ready(north); !strings.HasPrefix(got, "False InvalidSpec: Validated: spec.transitIP") {
				t.Errorf("not valid: %s", got)
			}
			f.wantReady(acme)
			if diff := cmp.Diff(before, f.Look()); diff != "" {
				t.Errorf("the cloud was changed (-before +after):\n%s", diff)
			}
			f.write(northern)
			time.Sleep(10 * time.Second)
			f.wantReady(north)
		})
	})
}

// TestALinkWithoutItsRouter says so, asks again after 15 seconds, and costs no gateway
// anything.
func TestALinkWithoutItsRouter(t *testing.T) {
	bubble(t, func(t *testing.T, f *field) {
		f.everyone()
		f.write(edited(t, northern, "service-cluster-router", "nowhere"))
		c := f.controller()
		rounds(t.Context(), c)
		rounds(t.Context(), c)
		if got := f.status(north, "LegAttached"); !strings.HasPrefix(got, "False RouterResolveFailed: ") {
			t.Errorf("the link: %s", got)
		}
		if next := time.Until(c.Round(t.Context())); next < 10*time.Second || next > 15*time.Second {
			t.Errorf("the next round is in %s", next)
		}
		f.wantReady(acme)
		f.remove(edited(t, northern, "service-cluster-router", "nowhere"))
		rounds(t.Context(), c)
		if got := f.ready(north); got != "gone" {
			t.Errorf("deleted, it is %s", got)
		}
	})
}

// TestALinkThatRests keeps no gateway from its turn, and is done once it may be.
func TestALinkThatRests(t *testing.T) {
	bubble(t, func(t *testing.T, f *field) {
		f.everyone()
		f.write(northern)
		broken := true
		f.Disturb(func(_ int, r *http.Request) simulator.Fault {
			if broken && strings.HasSuffix(r.URL.Path, "/add_router_interface") {
				return simulator.Fault{Do: simulator.Fail, Status: http.StatusConflict, Message: "not now"}
			}
			return simulator.Fault{}
		})
		c := f.controller()
		rounds(t.Context(), c)
		if got := f.status(north, "LegAttached"); !strings.HasPrefix(got, "False EnsureRouterHasPortFailed: ") {
			t.Errorf("the link: %s", got)
		}
		if got := f.status(north, "RouteInstalled"); !strings.HasPrefix(got, "Unknown Pending: ") {
			t.Errorf("its route: %s", got)
		}
		rounds(t.Context(), c)
		f.wantReady(acme)
		m := manifestsOf(t, "acme/dc1")
		f.write(edited(t, m[0], `"name":"web"`, `"name":"web2"`))
		before := f.Look()
		time.Sleep(cloudRest)
		rounds(t.Context(), c)
		rounds(t.Context(), c)
		f.wantReady(acme)
		if f.Look() == before {
			t.Error("a new exposure changed nothing while a link rests")
		}
		broken = false
		time.Sleep(cloudRest)
		rounds(t.Context(), c)
		f.wantReady(north)
		if f.routes("service-cluster-router") == 0 {
			t.Error("no way leads back")
		}
	})
}

// cloudRest is how long what failed in the cloud rests.
const cloudRest = 16 * time.Second

// TestALinkOverAnAPIServer: finalizer, status with its generation, and the end of both;
// nothing is written while nothing is new. What is not supported is refused in its status.
func TestALinkOverAnAPIServer(t *testing.T) {
	f := newFieldOverAPI(t)
	f.put(northern)
	f.put(manifestsOf(t, "acme/dc1")...)
	f.api.Put(t, map[string]any{
		"apiVersion": "ipsec.bnerd.net/v1alpha1", "kind": "ClusterLink", "metadata": map[string]any{"name": "south"},
		"spec": map[string]any{"serviceClusterCIDR": "10.40.0.0/16", "serviceClusterRouter": "south-router", "customerProjectID": "p1",
			"credentialsSecretRef": map[string]any{"name": "clusterlink-south", "namespace": "acme"}},
	})
	f.turns(3)
	u := f.api.Get("ClusterLink", "", "north")
	if got := u.GetFinalizers(); len(got) != 1 || got[0] != ipsecv1alpha1.LinkFinalizer {
		t.Errorf("finalizers %v", got)
	}
	told, err := json.Marshal(u.Object["status"])
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{`"transitIP":"10.254.0.3"`, `"legPortID":"`, `"reverseRoutes":[{"gatewayRef":"acme/dc1","nextHop":"10.254.0.`, `"observedGeneration":1`, `"reason":"LegAttached"`} {
		if !strings.Contains(string(told), part) {
			t.Errorf("no %s in its status: %s", part, told)
		}
	}
	if got := f.said("ClusterLink", "", "north", "Ready"); got != "True Ready" {
		t.Errorf("the link: %s", got)
	}
	f.api.Forget()
	f.turns(1)
	for _, call := range f.api.Calls() {
		if call.Writes() && call.Resource == "clusterlinks" {
			t.Errorf("nothing is new, and it was written: %+v", call)
		}
	}
	f.api.Remove(t, "ClusterLink", "", "north")
	f.turns(3)
	if u := f.api.Get("ClusterLink", "", "north"); u != nil || strings.Contains(f.Look(), "north") {
		t.Errorf("deleted, it is %v\n%s", u, f.Look())
	}
}

// TestLinksThatMayNotBeListed are not taken for none: nobody looks any further.
func TestLinksThatMayNotBeListed(t *testing.T) {
	f := newFieldOverAPI(t)
	f.put(manifestsOf(t, "acme/dc1")...)
	f.api.Intercept(func(_ int, call fakeapi.Call) fakeapi.Fault {
		if call.Resource == "clusterlinks" {
			return fakeapi.Fault{Code: 403}
		}
		return fakeapi.Fault{}
	})
	f.turns(2)
	if f.api.Get("Deployment", "acme", "dc1") != nil {
		t.Error("a gateway was made, though it isn't known which links there are")
	}
}
