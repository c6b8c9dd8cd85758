package loop_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/cloud/reconcile/loop"
	vpnv1alpha1 "github.com/vpnctl/vpnctl/crds/vpn/v1alpha1"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// called is how peers are named together.
func called(peers []vpn.Manifest) string {
	var names []string
	for _, m := range peers {
		names = append(names, m.Name)
	}
	if len(names) == 1 {
		return "peer " + names[0]
	}
	return "peers " + strings.Join(names, ", ")
}

// looked is a test while a controller keeps a gateway whose CRDs it has looked at.
func looked(t *testing.T, path string, test func(f *field, c *loop.Controller, crds *kinds, all []vpn.Manifest)) {
	t.Helper()
	bubble(t, func(t *testing.T, f *field) {
		all := manifestsOf(t, path)
		f.write(all...)
		c, crds := f.controller(), &kinds{uid: "first"}
		c.Definition = crds.of
		f.running(c, func() {
			time.Sleep(10 * time.Second)
			test(f, c, crds, all)
		})
	})
}

// TestAPeerWhileItsCRDCantBeSeen: that round alone leaves the gateway as it is. The next
// one that gets an answer carries the deletion out, or keeps the peer.
func TestAPeerWhileItsCRDCantBeSeen(t *testing.T) {
	for name, test := range map[string]struct {
		answer string
		kept   bool
	}{
		"it stands":      {"first", false},
		"it was gone":    {"", true},
		"it is made new": {"second", true},
	} {
		t.Run(name, func(t *testing.T) {
			looked(t, "globex/remote", func(f *field, c *loop.Controller, crds *kinds, all []vpn.Manifest) {
				before := f.Look()
				crds.become("", errGone)
				f.remove(all[1])
				time.Sleep(time.Minute)
				if diff := cmp.Diff(before, f.Look()); diff != "" {
					t.Errorf("while nobody can tell, the cloud was changed (-before +after):\n%s", diff)
				}
				crds.become(test.answer, nil)
				time.Sleep(time.Hour)
				if kept := strings.Contains(get(t, c, "/"), "went with the CRD"); kept != test.kept {
					t.Errorf("two hours later it is kept: %t", kept)
				}
				if kept := strings.HasPrefix(f.ready("VPNGateway globex/remote"), "False RenderInputFailed"); kept != test.kept {
					t.Errorf("the gateway: %s", f.ready("VPNGateway globex/remote"))
				}
			})
		})
	}
}

// TestBothCRDsGo: a gateway that is written again before its peers keeps them until each
// is back. One that the controller has removed itself comes again as another one.
func TestBothCRDsGo(t *testing.T) {
	looked(t, "acme/dc1", func(f *field, c *loop.Controller, crds *kinds, all []vpn.Manifest) {
		before, objects := f.Look(), f.objectsOf(acme)
		kept := func(when string) {
			t.Helper()
			if diff := cmp.Diff(before, f.Look()); diff != "" {
				t.Errorf("%s: the cloud was changed (-before +after):\n%s", when, diff)
			}
			if diff := cmp.Diff(objects, f.objectsOf(acme)); diff != "" {
				t.Errorf("%s: its objects were changed (-before +after):\n%s", when, diff)
			}
		}
		crds.become("", nil)
		f.remove(all...)
		time.Sleep(10 * time.Second)
		f.unheld(acme)
		crds.become("second", nil)
		time.Sleep(10 * time.Second)
		kept("their manifests are gone")
		for n := range all {
			f.write(all[n])
			time.Sleep(10 * time.Second)
			kept("written again: " + all[n].Name)
		}
		f.wantReady(acme)

		crds.become("", nil)
		f.remove(all[1:]...)
		time.Sleep(10 * time.Second)
		crds.become("third", nil)
		time.Sleep(10 * time.Second)
		kept("the CRD of peers went once more")
		f.remove(all[0])
		time.Sleep(time.Minute)
		if got := f.ready(acme); got != "gone" {
			t.Errorf("deleted by itself, its lost peers keep it: %s", got)
		}
		f.write(all[0])
		time.Sleep(time.Minute)
		if got := f.ready(acme); strings.Contains(got, "went with") {
			t.Errorf("another one of its name is kept for peers that it never had: %s", got)
		}
	})
}

// TestAKeptGatewayIsNotReady, whatever else happens to it meanwhile, and its remaining
// peers aren't either; none of that is written twice.
func TestAKeptGatewayIsNotReady(t *testing.T) {
	const remote = "VPNGateway globex/remote"
	looked(t, "globex/remote", func(f *field, c *loop.Controller, crds *kinds, all []vpn.Manifest) {
		crds.become("second", nil)
		f.remove(all[1])
		time.Sleep(10 * time.Second)
		f.cluster.mu.Lock()
		for id, o := range f.objects {
			if o.Object.Kind == "Deployment" {
				delete(f.objects, id)
			}
		}
		f.cluster.mu.Unlock()
		f.wake()
		time.Sleep(time.Minute)
		said := f.statuses()
		f.fails(func(what string, _ bool) error { // nobody can look
			if what == "list objects" {
				return errGone
			}
			return nil
		})
		time.Sleep(time.Hour)
		f.fails(nil)
		time.Sleep(time.Hour)
		if got := f.ready(remote); !strings.HasPrefix(got, "False RenderInputFailed") {
			t.Errorf("the gateway: %s", got)
		}
		for _, m := range all[2:] {
			if got, want := f.ready("VPNPeer globex/"+m.Name), "False GatewayNotReady: see the status of VPNGateway remote"; got != want {
				t.Errorf("%s: %s, want %s", m.Name, got, want)
			}
		}
		if n := f.statuses() - said; n != 0 {
			t.Errorf("%d statuses were written of what was said before", n)
		}
	})
}

// TestPeersOfWhatCantBeCarriedOut: a peer says that its gateway isn't ready, whatever the
// reason, and one that is new says it too; nothing is said twice.
func TestPeersOfWhatCantBeCarriedOut(t *testing.T) {
	const waits = "GatewayNotReady: see the status of VPNGateway remote"
	bad := func(t *testing.T, m vpn.Manifest) vpn.Manifest {
		return edited(t, m, `"spec":{`, `"spec":{"nonsense":1,`)
	}
	for name, test := range map[string]struct {
		spoil func(t *testing.T, f *field, all []vpn.Manifest)
		want  string
	}{
		"another peer isn't valid": {func(t *testing.T, f *field, all []vpn.Manifest) { f.write(bad(t, all[1])) }, "False " + waits},
		"the gateway isn't valid":  {func(t *testing.T, f *field, all []vpn.Manifest) { f.write(bad(t, all[0])) }, "False " + waits},
		"it can't be looked at": {func(_ *testing.T, f *field, _ []vpn.Manifest) {
			f.fails(func(what string, _ bool) error {
				if what == "list objects" {
					return errGone
				}
				return nil
			})
		}, "Unknown " + waits},
		"it is being deleted": {func(_ *testing.T, f *field, all []vpn.Manifest) {
			f.fails(func(what string, _ bool) error {
				if strings.HasPrefix(what, "delete") {
					return errGone
				}
				return nil
			})
			f.remove(all[0])
		}, "Unknown " + waits},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, f *field) {
				all := manifestsOf(t, "globex/remote")
				f.write(all...)
				f.running(f.controller(), func() {
					time.Sleep(10 * time.Second)
					fresh := edited(t, all[2], `"name":"`+all[2].Name+`"`, `"name":"fresh"`)
					key := strings.Index(fresh.JSON, `"publicKey":"`) + len(`"publicKey":"`)
					fresh.Name, fresh.JSON = "fresh", fresh.JSON[:key]+"B"+fresh.JSON[key+1:]
					test.spoil(t, f, all)
					time.Sleep(time.Minute)
					f.write(fresh)
					time.Sleep(10 * time.Minute)
					said := f.peersSaid()
					time.Sleep(time.Hour)
					for _, m := range append(all[2:], fresh) {
						if got := f.status("VPNPeer globex/"+m.Name, vpnv1alpha1.ConditionReady); got != test.want {
							t.Errorf("%s: %s, want %s", m.Name, got, test.want)
						}
					}
					if n := f.peersSaid() - said; n != 0 {
						t.Errorf("%d statuses of peers were written of what was said before", n)
					}
				})
			})
		})
	}
}

// unheld takes the finalizer off by hand.
func (c *cluster) unheld(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if m := c.manifests[key]; m != nil && m.Deleting {
		delete(c.manifests, key)
	}
	c.wake()
}

// peersSaid counts what was written into peers' statuses so far.
func (c *cluster) peersSaid() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for key, k := range c.said {
		if strings.HasPrefix(key, "VPNPeer ") {
			n += k
		}
	}
	return n
}
