package loop_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/cloud/reconcile/world"
	vpnv1alpha1 "github.com/vpnctl/vpnctl/crds/vpn/v1alpha1"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// TestADeletedCRD deletes every gateway of its kind, and none of them is torn down. Once
// the manifests are written again, they are taken on as they stand.
func TestADeletedCRD(t *testing.T) {
	bubble(t, func(t *testing.T, f *field) {
		f.everyone()
		c, crds := f.controller(), &kinds{changing: vpn.KindVPNGateway, uid: "first"}
		c.Definition = crds.of
		f.running(c, func() {
			time.Sleep(10 * time.Second)
			if n := crds.looks(); n > 1 { // that of peers at the beginning
				t.Errorf("the CRDs were looked at %d times, though no manifest was being deleted", n)
			}
			before := f.Look()
			crds.become("", nil)
			for _, g := range world.Estate(t).Gateways {
				if g.Owner.Kind == vpn.KindVPNGateway {
					f.remove(g.Manifests[0])
				}
			}
			time.Sleep(time.Hour)
			if diff := cmp.Diff(before, f.Look()); diff != "" {
				t.Errorf("the cloud was changed (-before +after):\n%s", diff)
			}
			want := "Unknown Deleting: the CRD is being deleted: nothing of it is removed; to keep it, save its manifest, take the finalizer " + vpnv1alpha1.Finalizer + " off"
			if got := f.ready(acme); !strings.HasPrefix(got, want) {
				t.Errorf("the gateway: %s", got)
			}
			if page := get(t, c, "/"); !strings.Contains(page, "the CRD is being deleted: nothing is removed of acme/dc1") {
				t.Errorf("the page doesn't tell:\n%s", page)
			}
			for key, m := range f.manifests { // by hand; the CRD goes with the last
				if m.Deleting {
					delete(f.manifests, key)
				}
			}
			crds.become("second", nil)
			f.everyone()
			time.Sleep(10 * time.Second)
			f.wantReady(acme)
			if diff := cmp.Diff(before, f.Look()); diff != "" {
				t.Errorf("it was not taken on as it stood (-before +after):\n%s", diff)
			}
			f.remove(manifestsOf(t, "acme/dc1")...)
			time.Sleep(10 * time.Second)
			if got := f.ready(acme); got != "gone" {
				t.Errorf("deleted by itself: %s", got)
			}
		})
	})
}

// TestADeletedCRDOfPeers deletes every peer, which nothing holds, and no gateway loses one
// until each is deleted by itself.
func TestADeletedCRDOfPeers(t *testing.T) {
	for name, gone := range map[string]struct{ unlisted, between bool }{
		"seen in time": {}, "seen once it was gone": {unlisted: true}, "made anew between two looks": {between: true},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, f *field) {
				f.write(manifestsOf(t, "acme/dc1")...)
				f.write(manifestsOf(t, "globex/remote")...)
				c, crds := f.controller(), &kinds{changing: vpnv1alpha1.KindVPNPeer, uid: "first"}
				c.Definition = crds.of
				f.running(c, func() {
					time.Sleep(10 * time.Second)
					before, objects := f.Look(), f.objectsOf(acme)
					if crds.become("", nil); gone.between {
						crds.become("second", nil)
					}
					if gone.unlisted {
						f.cluster.fails(func(what string, _ bool) error {
							if what == "list manifests" {
								return errGone
							}
							return nil
						})
					}
					peers := manifestsOf(t, "acme/dc1")[1:]
					f.remove(peers...)
					f.wake()
					time.Sleep(time.Minute)
					f.cluster.fails(nil)
					crds.become("second", nil) // it is made anew, and has no peers yet
					time.Sleep(time.Hour)
					kept := "False RenderInputFailed: ConfigRendered: the last good state stays: " + called(peers) + " went with the CRD of VPNPeers: write each manifest again"
					if got := f.ready(acme); !strings.HasPrefix(got, kept) {
						t.Errorf("the gateway: %s, want %s", got, kept)
					}
					if page := get(t, c, "/"); !strings.Contains(page, "went with the CRD of VPNPeers: acme/dc1 is left as it is") {
						t.Errorf("the page doesn't tell:\n%s", page)
					}
					for _, again := range [][]vpn.Manifest{nil, peers} {
						f.write(again...)
						time.Sleep(10 * time.Second)
						if (f.ready(acme) == "True Ready") != (len(again) > 0) {
							t.Errorf("with %d peers again: %s", len(again), f.ready(acme))
						}
						if diff := cmp.Diff(before, f.Look()); diff != "" {
							t.Errorf("with %d peers again the cloud was changed (-before +after):\n%s", len(again), diff)
						}
						if diff := cmp.Diff(objects, f.objectsOf(acme)); diff != "" {
							t.Errorf("with %d peers again its objects were changed (-before +after):\n%s", len(again), diff)
						}
					}
					f.remove(peers[0])
					time.Sleep(10 * time.Second)
					if f.Look() == before {
						t.Error("a peer that was deleted by itself is still let in")
					}
				})
			})
		})
	}
}

// TestACRDThatCantBeSeen: without the right deletions go on, and it is said; any other
// error keeps the gateway until it has passed.
func TestACRDThatCantBeSeen(t *testing.T) {
	for name, test := range map[string]struct {
		err  error
		goes bool
	}{
		"not allowed": {fmt.Errorf("reading the CRD: %w", cloud.ErrForbidden), true},
		"no answer":   {errGone, false},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, f *field) {
				f.write(manifestsOf(t, "acme/dc1")...)
				c, crds := f.controller(), &kinds{uid: "first", err: test.err}
				c.Definition = crds.of
				rounds(t.Context(), c)
				f.remove(manifestsOf(t, "acme/dc1")...)
				rounds(t.Context(), c)
				if got := f.ready(acme); (got == "gone") != test.goes {
					t.Errorf("%s", got)
				}
				if errors.Is(test.err, cloud.ErrForbidden) {
					return
				}
				crds.become("first", nil)
				time.Sleep(time.Minute)
				rounds(t.Context(), c)
				if got := f.ready(acme); got != "gone" {
					t.Errorf("once it could be seen: %s", got)
				}
			})
		})
	}
}

// TestMaxDeletes: what is on its way out goes on, of others nothing is removed when they
// are more than may go at once; raising the number lets them go.
func TestMaxDeletes(t *testing.T) {
	bubble(t, func(t *testing.T, f *field) {
		f.everyone()
		c := f.controller()
		c.MaxDeletes = 1
		rounds(t.Context(), c)
		before := f.Look()
		for _, path := range []string{"acme/dc1", "globex/remote"} {
			f.remove(manifestsOf(t, path)...)
		}
		rounds(t.Context(), c)
		if diff := cmp.Diff(before, f.Look()); diff != "" {
			t.Errorf("the cloud was changed (-before +after):\n%s", diff)
		}
		want := "Unknown Deleting: 2 gateways are being deleted at once, more than 1: nothing of it is removed; vpnctl reconcile --max-deletes=2, if that is meant; to keep it, "
		if got := f.ready(acme); !strings.HasPrefix(got, want) {
			t.Errorf("the gateway: %s", got)
		}
		if page := get(t, c, "/"); !strings.Contains(page, "nothing is removed of acme/dc1, globex/remote") {
			t.Errorf("the page doesn't tell:\n%s", page)
		}
		c.MaxDeletes = 2
		rounds(t.Context(), c)
		for _, key := range []string{acme, "VPNGateway globex/remote"} {
			if got := f.ready(key); got != "gone" {
				t.Errorf("%s, once as many may go: %s", key, got)
			}
		}
	})
}

// TestMaxDeletesInTurn: one that has begun to go is not stopped by those that come after
// it, and whoever may delete none deletes none.
func TestMaxDeletesInTurn(t *testing.T) {
	bubble(t, func(t *testing.T, f *field) {
		f.everyone()
		c := f.controller()
		c.MaxDeletes = -1
		rounds(t.Context(), c)
		f.remove(manifestsOf(t, "acme/dc1")...)
		rounds(t.Context(), c)
		if got := f.ready(acme); !strings.HasPrefix(got, "Unknown Deleting: a gateway is being deleted, and none may be: ") {
			t.Errorf("where none may go: %s", got)
		}
		c.MaxDeletes = 1
		f.fails(func(what string, done bool) error { // its first deletion fails
			if strings.HasPrefix(what, "delete") && !done {
				return errGone
			}
			return nil
		})
		c.Round(t.Context())
		f.fails(nil)
		f.remove(manifestsOf(t, "globex/remote")...)
		for range 10 {
			time.Sleep(10 * time.Second)
			c.Round(t.Context())
			if got := f.ready("VPNGateway globex/remote"); got == "gone" && f.ready(acme) != "gone" {
				t.Fatal("the second went before the first")
			}
		}
		for _, key := range []string{acme, "VPNGateway globex/remote"} {
			if got := f.ready(key); got != "gone" {
				t.Errorf("%s: %s", key, got)
			}
		}
	})
}
