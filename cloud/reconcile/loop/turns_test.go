package loop_test

import (
	"context"
	"maps"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/cloud/reconcile/world"
	"github.com/vpnctl/vpnctl/cloud/simulator"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
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
		f.Disturb(func(_ int, r *http.Request) simulator.Fault {
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
		f.Disturb(nil)
		for _, p := range world.Snapshot(t, f.World).Of("port") {
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
		for _, g := range world.Estate(t).Gateways {
			if g.Owner.Name != "dc1" {
				f.write(g.Manifests...)
			}
		}
		client := world.NewClient(f.World)
		router := ""
		for _, o := range world.Snapshot(t, f.World).Of("router") {
			if o.Text("name") == "gateway-router" {
				router = o.ID
			}
		}
		route := map[string]any{"destination": "100.64.7.0/24", "nexthop": "10.254.0.77"}
		client.Put("routers/"+router+"/add_extraroutes", map[string]any{"router": map[string]any{"routes": []any{route}}})
		f.running(f.controller(), func() {
			time.Sleep(10 * time.Second)
			if got := f.ready(acme); !strings.HasPrefix(got, "False AllocationFailed: ") {
				t.Fatalf("a range that is taken: %s", got)
			}
			f.wantReady("VPNGateway globex/remote")
			client.Put("routers/"+router+"/remove_extraroutes", map[string]any{"router": map[string]any{"routes": []any{route}}})
			time.Sleep(time.Minute + 10*time.Second)
			f.wantReady(acme)
		})
	})
}

// TestNewsDuringALongApply: what takes minutes is done in turns, and between them others
// are heard.
func TestNewsDuringALongApply(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newField(t, simulator.Options{
			RouteLimit: 1000, Quota: map[string]int{"port": -1, "security_group": -1, "security_group_rule": -1, "floatingip": -1},
			Seed: simulator.Seed{SubnetCIDR: "10.128.0.0/16", FloatingIPCIDR: "11.0.0.0/16", Nodes: world.Nodes(t)},
		})
		all := fleet(t, 12)
		for _, m := range all {
			f.write(m...)
		}
		f.Disturb(func(_ int, r *http.Request) simulator.Fault {
			if r.Method == http.MethodGet {
				return simulator.Fault{}
			}
			return simulator.Fault{Do: simulator.Delay, Wait: 3 * time.Second}
		})
		c := f.controller()
		f.running(c, func() {
			time.Sleep(20 * time.Second)
			m := manifestsOf(t, "globex/remote")
			f.write(edited(t, m[0], `"address":"`, `"address":"x`))
			time.Sleep(45 * time.Second)
			if got := f.ready("VPNGateway globex/remote"); !strings.HasPrefix(got, "False InvalidSpec: ") {
				t.Errorf("one that is not valid: %s", got)
			}
			if got := f.ready("VPNGateway acme/" + all[11][0].Name); got == "True Ready" {
				t.Fatal("the apply was not long")
			}
			time.Sleep(20 * time.Minute)
			for _, m := range all {
				f.wantReady("VPNGateway acme/" + m[0].Name)
			}
		})
	})
}

// TestNoiseIsNoHotLoop: changes that mean nothing, four a second, cost a look every now
// and then; an edit is carried out all the same.
func TestNoiseIsNoHotLoop(t *testing.T) {
	bubble(t, func(t *testing.T, f *field) {
		f.write(manifestsOf(t, "acme/dc1")...)
		f.running(f.controller(), func() {
			time.Sleep(time.Minute)
			f.Sim.Reset()
			f.storm(10*time.Minute, 250*time.Millisecond)
			if n := len(f.Sim.Calls()); n > 60*15 {
				t.Errorf("%d calls to the cloud in ten minutes", n)
			}
			f.write(edited(t, manifestsOf(t, "acme/dc1")[0], `"name":"web"`, `"name":"web2"`))
			f.storm(20*time.Second, 250*time.Millisecond)
			if !strings.Contains(f.all(), "web2") {
				t.Error("an edit is not carried out")
			}
			f.storm(3*time.Second, 250*time.Millisecond)
			time.Sleep(time.Minute)
			f.write(edited(t, manifestsOf(t, "acme/dc1")[0], `"name":"web"`, `"name":"web3"`))
			time.Sleep(3 * time.Second)
			if !strings.Contains(f.all(), "web3") {
				t.Error("after a quiet minute an edit takes more than a few seconds")
			}
		})
	})
}

// TestAnObjectThatComesBack: another hand that makes anew what is removed is no reason
// to remove it without a pause.
func TestAnObjectThatComesBack(t *testing.T) {
	bubble(t, func(t *testing.T, f *field) {
		f.write(manifestsOf(t, "acme/dc1")...)
		f.running(f.controller(), func() {
			time.Sleep(10 * time.Second)
			kept := maps.Clone(f.objects)
			f.fails(func(what string, done bool) error {
				if done && strings.HasPrefix(what, "delete ") {
					for id, r := range kept {
						if id.Kind == resource.KubernetesKind("ConfigMap") {
							f.objects[id] = r
						}
					}
				}
				return nil
			})
			f.Sim.Reset()
			f.remove(manifestsOf(t, "acme/dc1")...)
			time.Sleep(time.Minute)
			if n := len(f.Sim.Calls()); n > 60*40 {
				t.Errorf("%d calls to the cloud in a minute", n)
			}
			f.fails(nil)
			time.Sleep(30 * time.Second)
			if got := f.ready(acme); got != "gone" {
				t.Errorf("nobody makes it anew any more: %s", got)
			}
		})
	})
}

// TestConditionsOfWhatIsRemoved: from when a gateway's removal begins nothing is said to
// be there.
func TestConditionsOfWhatIsRemoved(t *testing.T) {
	bubble(t, func(t *testing.T, f *field) {
		f.write(manifestsOf(t, "acme/dc1")...)
		f.running(f.controller(), func() {
			time.Sleep(10 * time.Second)
			f.wantReady(acme)
			f.Disturb(func(_ int, r *http.Request) simulator.Fault {
				if r.Method != http.MethodDelete || !strings.Contains(r.URL.Path, "/security-groups/") {
					return simulator.Fault{}
				}
				return simulator.Fault{Do: simulator.Fail, Status: http.StatusConflict, Type: "SecurityGroupInUse", Message: "in use"}
			})
			f.remove(manifestsOf(t, "acme/dc1")...)
			time.Sleep(10 * time.Second)
			for _, c := range []string{"PortReady", "PortAttached", "FIPAttached", "RoutingReady", "ConfigRendered", "DeploymentReady"} {
				if got := f.status(acme, c); got != "Unknown Deleting" {
					t.Errorf("%s: %s", c, got)
				}
			}
			f.Disturb(nil)
		})
	})
}

// TestThePublicKeyFollowsItsSecret: a key that was made anew is published anew, and what
// another hand writes in its place doesn't stay.
func TestThePublicKeyFollowsItsSecret(t *testing.T) {
	bubble(t, func(t *testing.T, f *field) {
		f.secrets = map[string]string{"globex/remote-wg-key": "1", "globex/laptop-hank-psk": "1"}
		c, asked := f.controller(), 0
		c.PublicKey = func(context.Context, string, vpn.SecretRef) (string, error) {
			asked++
			return "key" + f.secrets["globex/remote-wg-key"], nil
		}
		f.write(manifestsOf(t, "globex/remote")...)
		turns := func(want string, most int) {
			t.Helper()
			before := asked
			for range 4 {
				c.Round(t.Context())
			}
			if got := f.field("VPNGateway globex/remote", "wireguardPublicKey"); got != want || asked-before > most {
				t.Errorf("the key is %q, want %q, and was derived %d times, want at most %d", got, want, asked-before, most)
			}
		}
		turns("key1", 2)
		turns("key1", 0)
		f.secrets["globex/remote-wg-key"] = "2"
		turns("key2", 1)
		turns("key2", 0)
		m := f.manifests["VPNGateway globex/remote"] // another hand's
		m.Status = []byte(strings.Replace(string(m.Status), "key2", "AAAA", 1))
		turns("key2", 1)
		turns("key2", 0)
	})
}
