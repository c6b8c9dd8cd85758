package loop_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/cloud/openstack"
	"github.com/vpnctl/vpnctl/cloud/reconcile/world"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

const south = "ClusterLink /south"

// southern is a link into the project of the customer whom the simulator knows, with that
// customer's router, and what its manifest has at first.
func southern(f *field) vpn.Manifest {
	c, err := f.Sim.Credentials("http://simulator.invalid", "customer")
	if err != nil {
		f.T.Fatal(err)
	}
	world.ClientAs(f.World, "customer").Post("routers", "router", map[string]any{"name": "customer-router"})
	return vpn.Manifest{APIVersion: "ipsec.bnerd.net/v1alpha1", Kind: vpn.KindClusterLink, Name: "south", JSON: fmt.Sprintf(
		`{"apiVersion":"ipsec.bnerd.net/v1alpha1","kind":"ClusterLink","metadata":{"name":"south","annotations":{"ipsec.bnerd.net/tenant-isolation-attested":"network team; 2026-02-28"}},`+
			`"spec":{"serviceClusterCIDR":"10.60.0.0/16","serviceClusterRouter":"customer-router","customerProjectID":%q,"credentialsSecretRef":{"namespace":"vpn","name":"clusterlink-south"}}}`, c.ProjectID)}
}

// ofTheLink are the names of what a cloud has with the link's name in it, by kind.
func ofTheLink(f *field) []string {
	all := []string{}
	for _, kind := range []string{"port", "security-group", "rbac-policy"} {
		for _, o := range world.Snapshot(f.T, f.World).Of(kind) {
			if kind == "rbac-policy" || strings.Contains(o.Text("description"), "ClusterLink/south") {
				all = append(all, kind)
			}
		}
	}
	return all
}

// TestACustomersSideIsLeftBehind: a link that is deleted is held while its customer's
// credential doesn't work, says so once, and goes when its manifest says that it may. There
// is an Event for each.
func TestACustomersSideIsLeftBehind(t *testing.T) {
	bubble(t, func(t *testing.T, f *field) {
		m := southern(f)
		credential := f.Credential("customer", nil)
		f.Customer = func(vpn.Link) (openstack.Options, error) { return credential.Options, nil }
		f.write(m)
		f.running(f.controller(), func() {
			time.Sleep(10 * time.Second)
			f.wantReady(south)
			if diff := cmp.Diff([]string{"port", "security-group", "rbac-policy"}, ofTheLink(f)); diff != "" {
				t.Fatalf("made (-want +got):\n%s", diff)
			}
			before := f.Look()
			credential.Revoke()
			f.remove(m)
			time.Sleep(time.Minute)
			if got := f.ready(south); !strings.HasPrefix(got, "False CustomerSideUnreachable: customer credential (") || !strings.Contains(got, "abandon-customer-side") {
				t.Errorf("held: %s", got)
			}
			if after := f.Look(); after != before {
				t.Errorf("something has changed:\n%s", cmp.Diff(before, after))
			}
			said := f.statuses()
			time.Sleep(time.Hour)
			if n := f.statuses() - said; n > 0 {
				t.Errorf("%d statuses were written in an hour without news", n)
			}
			f.write(edited(t, m, `"annotations":{`, `"annotations":{"ipsec.bnerd.net/abandon-customer-side":"true",`))
			time.Sleep(time.Minute)
			if got := f.ready(south); got != "gone" {
				t.Errorf("given up, it is %s", got)
			}
			if diff := cmp.Diff([]string{"port", "rbac-policy"}, ofTheLink(f)); diff != "" {
				t.Errorf("left (-want +got):\n%s", diff)
			}
			want := []string{south + " Normal Pending", south + " Normal Ready", south + " Normal Deleting", south + " Warning CustomerSideUnreachable", south + " Warning Abandoned"}
			if diff := cmp.Diff(want, f.told(south)); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		})
	})
}

// TestACustomersSideThatIsReached goes with its link, whatever its manifest says.
func TestACustomersSideThatIsReached(t *testing.T) {
	bubble(t, func(t *testing.T, f *field) {
		m := southern(f)
		m = edited(t, m, `"annotations":{`, `"annotations":{"ipsec.bnerd.net/abandon-customer-side":"true",`)
		credential := f.Credential("customer", nil)
		f.Customer = func(vpn.Link) (openstack.Options, error) { return credential.Options, nil }
		f.running(f.controller(), func() {
			f.everyone()
			time.Sleep(10 * time.Second)
			before := f.Look()
			f.write(m)
			time.Sleep(10 * time.Second)
			f.wantReady(south)
			f.remove(m)
			time.Sleep(time.Minute)
			if got := f.ready(south); got != "gone" {
				t.Errorf("deleted, it is %s", got)
			}
			if after := f.Look(); after != before {
				t.Errorf("something is left or gone:\n%s", cmp.Diff(before, after))
			}
			for _, e := range f.told(south) {
				if strings.Contains(e, "Abandoned") {
					t.Errorf("an event says %s", e)
				}
			}
		})
	})
}
