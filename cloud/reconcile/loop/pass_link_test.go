package loop_test

import (
	"encoding/json"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/vpnctl/vpnctl/cloud/kube/fakeapi"
	"github.com/vpnctl/vpnctl/cloud/reconcile"
	"github.com/vpnctl/vpnctl/cloud/simulator"
	ipsecv1alpha1 "github.com/vpnctl/vpnctl/crds/ipsec/v1alpha1"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// linkedInACluster is the estate of Acme's gateway and a link, in a cluster.
func linkedInACluster(t *testing.T) vpn.Estate {
	e := acmeInACluster(t)
	e.Links = []vpn.Link{{
		Owner: vpn.Owner{Kind: vpn.KindClusterLink, Name: "north"}, Router: "service-cluster-router", CIDR: netip.MustParsePrefix("10.250.0.0/16"),
		Manifests: []vpn.Manifest{northern},
	}}
	return e
}

func (p *passing) link() *unstructured.Unstructured { return p.api.Get("ClusterLink", "", "north") }

// linkSays is a condition of the link.
func (p *passing) linkSays(kind string) string {
	return (&apiField{World: p.cloud, api: p.api}).said("ClusterLink", "", "north", kind)
}

func pending(r *reconcile.Result) []string {
	var all []string
	for _, c := range r.Plan.Pending() {
		all = append(all, string(c.Action)+" "+c.ID.String())
	}
	return all
}

// TestApplyWritesALinksManifest first, with our marks, and says in its status how it
// stands; a second plan is empty. Pruned, its manifest is the last that goes.
func TestApplyWritesALinksManifest(t *testing.T) {
	p := newPassing(t)
	e := linkedInACluster(t)
	first := pending(p.plan(e, plan.Options{Links: []string{"north"}}))
	want := []string{"create kubernetes.clusterlink/north", "create openstack.security-group/north", "create openstack.transit-leg/north",
		"create openstack.route/north", "create openstack.applied/north"}
	if diff := cmp.Diff(want, first); diff != "" {
		t.Errorf("the plan (-want +got):\n%s", diff)
	}
	if _, failures := p.apply(e, plan.Options{}); failures > 0 {
		t.Errorf("%d statuses were not written:\n%s", failures, p.log.String())
	}
	u := p.link()
	if u == nil {
		t.Fatal("its manifest was not written")
	}
	labels, notes := map[string]string{"app.kubernetes.io/managed-by": "vpnctl", "vpn.bnerd.net/estate": e.Name}, map[string]string{"vpn.bnerd.net/owner": "ClusterLink/north"}
	if diff := cmp.Diff([]map[string]string{labels, notes}, []map[string]string{u.GetLabels(), u.GetAnnotations()}); diff != "" {
		t.Errorf("its marks (-want +got):\n%s", diff)
	}
	if len(u.GetFinalizers()) > 0 {
		t.Errorf("it has finalizers, which are a controller's: %v", u.GetFinalizers())
	}
	if got := p.linkSays("Ready"); got != "True Ready" {
		t.Errorf("its status: %s", got)
	}
	status, _ := json.Marshal(u.Object["status"])
	for _, part := range []string{`"transitIP":"10.254.0.3"`, `"legPortID":"`, `"reverseRoutes":[{"gatewayRef":"acme/dc1"`} {
		if !strings.Contains(string(status), part) {
			t.Errorf("no %s in its status: %s", part, status)
		}
	}
	if again := p.plan(e, plan.Options{}).Plan; len(again.Changes)+len(again.Refusals) > 0 {
		t.Errorf("not empty: %+v %+v", again.Changes, again.Refusals)
	}

	e.Links = nil
	gone := pending(p.plan(e, plan.Options{Prune: true, Links: []string{"north"}, Gateways: []string{"acme/dc1"}}))
	if n := len(gone); n == 0 || gone[n-1] != "delete kubernetes.clusterlink/north" && !slices.Contains(gone[n-2:], "delete kubernetes.clusterlink/north") {
		t.Errorf("its manifest is not the last to go: %v", gone)
	}
	e.Gateways = nil
	p.apply(e, plan.Options{Prune: true, AllowEmpty: true})
	if p.link() != nil || strings.Contains(p.cloud.Look(), "vpnctl") {
		t.Errorf("pruned, something is left: %v\n%s", p.link(), p.cloud.Look())
	}
}

// TestALinksManifestThatIsThere: one that people applied is taken over, drift in it is put
// right, and one that another estate has marked is refused.
func TestALinksManifestThatIsThere(t *testing.T) {
	people := func() map[string]any {
		var object map[string]any
		if err := json.Unmarshal([]byte(northern.JSON), &object); err != nil {
			t.Fatal(err)
		}
		return object
	}
	for name, test := range map[string]struct {
		stands map[string]any // nil: it was applied, and then edited
		want   string
	}{
		"by people":           {people(), "adopt kubernetes.clusterlink/north"},
		"edited since":        {nil, "update kubernetes.clusterlink/north"},
		"of another estate's": {nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPassing(t)
			e := linkedInACluster(t)
			switch {
			case test.stands != nil:
				p.api.PutAs(t, "kubectl", test.stands)
			case test.want != "":
				p.apply(e, plan.Options{})
				u := p.link()
				if err := unstructured.SetNestedField(u.Object, "gateway-router", "spec", "serviceClusterRouter"); err != nil {
					t.Fatal(err)
				}
				p.api.PutAs(t, "kubectl", u.Object)
			default:
				other := people()
				other["metadata"].(map[string]any)["labels"] = map[string]any{"vpn.bnerd.net/estate": "other", "app.kubernetes.io/managed-by": "vpnctl"}
				p.api.PutAs(t, "vpnctl", other)
			}
			r := p.plan(e, plan.Options{})
			if test.want == "" {
				if !slices.ContainsFunc(r.Plan.Refusals, func(x plan.Refusal) bool { return x.Owner == e.Links[0].Owner }) {
					t.Errorf("it is not refused: %v", pending(r))
				}
				return
			}
			if !slices.Contains(pending(r), test.want) {
				t.Errorf("no %s: %v %v", test.want, pending(r), r.Plan.Refusals)
			}
			p.apply(e, plan.Options{})
			if again := p.plan(e, plan.Options{}).Plan; len(again.Changes)+len(again.Refusals) > 0 {
				t.Errorf("not empty: %+v %+v", again.Changes, again.Refusals)
			}
		})
	}
}

// TestApplyTellsOfALinkThatFails in its status, and of its gateways that they are well.
func TestApplyTellsOfALinkThatFails(t *testing.T) {
	p := newPassing(t)
	e := linkedInACluster(t)
	p.cloud.Disturb(func(_ int, r *http.Request) simulator.Fault {
		if strings.HasSuffix(r.URL.Path, "/add_router_interface") {
			return simulator.Fault{Do: simulator.Fail, Status: http.StatusConflict, Message: "not now"}
		}
		return simulator.Fault{}
	})
	p.apply(e, plan.Options{})
	for kind, want := range map[string]string{
		"LegAttached": "False " + ipsecv1alpha1.ReasonRouterHasPort + ": ", "RouteInstalled": "Unknown Pending: ", "ReverseRoutesInstalled": "Unknown Pending: waits for acme/dc1",
	} {
		if got := p.linkSays(kind); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s, want %s", kind, got, want)
		}
	}
	if got := (&apiField{World: p.cloud, api: p.api}).said("VPNGateway", "acme", "dc1", "RoutingReady"); !strings.HasPrefix(got, "True ") {
		t.Errorf("its gateway: %s", got)
	}
	p.cloud.Disturb(nil)
	p.apply(e, plan.Options{})
	if got := p.linkSays("Ready"); got != "True Ready" {
		t.Errorf("and then: %s", got)
	}
}

// TestLinksThatMayNotBeListedAreNoPlan: what can't be seen could be anything.
func TestLinksThatMayNotBeListedAreNoPlan(t *testing.T) {
	p := newPassing(t)
	p.api.Intercept(func(_ int, call fakeapi.Call) fakeapi.Fault {
		if call.Resource == "clusterlinks" {
			return fakeapi.Fault{Code: 403}
		}
		return fakeapi.Fault{}
	})
	e := linkedInACluster(t)
	in := reconcile.Input{Estate: e, Manifests: 3, Now: p.cloud.Time()}
	in.Drivers = append(in.Drivers, p.operator(), p.driver)
	if _, err := reconcile.Plan(t.Context(), in); err == nil || !strings.Contains(err.Error(), "clusterlinks") {
		t.Errorf("error %v", err)
	}
}
