package reconcile_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/cloud/simulator"
)

// TestAPodThatDoesNotRun: Ready follows the pod, and back.
func TestAPodThatDoesNotRun(t *testing.T) {
	bubble(t, func(t *testing.T, f *field) {
		f.write(manifestsOf(t, "acme/dc1")...)
		f.running(f.controller(), func() {
			for _, step := range []struct{ down, want string }{
				{"", "True Ready"},
				{"pulling the image", "False DeploymentUnavailable: DeploymentReady: pulling the image"},
				{"", "True Ready"},
			} {
				f.cluster.mu.Lock()
				f.down["VPNGateway/acme/dc1"] = step.down
				f.cluster.mu.Unlock()
				f.wake()
				time.Sleep(10 * time.Second)
				if got := f.ready(acme); got != step.want {
					t.Errorf("%q: %s, want %s", step.down, got, step.want)
				}
			}
		})
		want := []string{acme + " Normal Pending", acme + " Warning DeploymentUnavailable", acme + " Normal Ready", acme + " Warning DeploymentUnavailable", acme + " Normal Ready"}
		var got []string
		for _, e := range f.events {
			if strings.HasPrefix(e, acme) {
				got = append(got, e)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
	})
}

// TestStopFinishesTheCall: the loop ends in the middle of an apply, its lock is gone, and
// another one goes on at once.
func TestStopFinishesTheCall(t *testing.T) {
	bubble(t, func(t *testing.T, f *field) {
		keys := f.everyone()
		c, stop := f.controller(), make(chan struct{})
		c.Stop = stop
		f.faults(func(_ int, r *http.Request) simulator.Fault {
			if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/ports") && f.made() > 0 {
				select {
				case <-stop:
				default:
					close(stop)
				}
			}
			return simulator.Fault{}
		})
		c.Run(t.Context())
		f.faults(nil)
		for _, p := range snapshot(t, f.world).Of("port") {
			if strings.HasPrefix(p.Text("name"), "vpnctl-lock") {
				t.Errorf("port %s was left", p.Text("name"))
			}
		}
		began := time.Now()
		next := f.controller()
		rounds(t.Context(), next)
		rounds(t.Context(), next)
		for _, key := range keys {
			f.wantReady(key)
		}
		if took := time.Since(began); took > 30*time.Second {
			t.Errorf("the next one took %s", took)
		}
	})
}

// TestAPinInUse: a refusal is looked at again every minute, costs no other gateway
// anything, and ends when what is in the way does.
func TestAPinInUse(t *testing.T) {
	bubble(t, func(t *testing.T, f *field) {
		m := manifestsOf(t, "acme/dc1")
		m[0] = edited(t, m[0], `"spec":{`, `"spec":{"serviceCIDR":"100.64.7.0/24",`)
		f.write(m...)
		for _, g := range estate(t).Gateways {
			if g.Owner.Name != "dc1" {
				f.write(g.Manifests...)
			}
		}
		client := newClient(f.world)
		router := ""
		for _, o := range snapshot(t, f.world).Of("router") {
			if o.Text("name") == "gateway-router" {
				router = o.ID
			}
		}
		route := map[string]any{"destination": "100.64.7.0/24", "nexthop": "10.254.0.77"}
		client.put("routers/"+router+"/add_extraroutes", map[string]any{"router": map[string]any{"routes": []any{route}}})
		f.running(f.controller(), func() {
			time.Sleep(10 * time.Second)
			if got := f.ready(acme); !strings.HasPrefix(got, "False AllocationFailed: ") {
				t.Fatalf("a range that is taken: %s", got)
			}
			f.wantReady("VPNGateway globex/remote")
			client.put("routers/"+router+"/remove_extraroutes", map[string]any{"router": map[string]any{"routes": []any{route}}})
			time.Sleep(time.Minute + 10*time.Second)
			f.wantReady(acme)
		})
	})
}
