package kube_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.zx2c4.com/wireguard/wgctrl/wgtypes"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/cloud/kube/fakeapi"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/state"
)

// keyed is a WireGuard gateway of an estate, whose key the cluster makes.
func keyed(t *testing.T, e vpn.Estate) vpn.Gateway {
	t.Helper()
	i := slices.IndexFunc(e.Gateways, func(g vpn.Gateway) bool { return g.WireGuard != nil })
	if i < 0 {
		t.Fatal("no example has a WireGuard gateway")
	}
	e.Gateways[i].WireGuard.GeneratedKey = true
	e.Gateways[i].WireGuard.PrivateKey = vpn.SecretRef{Name: e.Gateways[i].Owner.Name + "-wg-key", Key: vpn.GeneratedKey}
	return e.Gateways[i]
}

func (w *world) key(g vpn.Gateway) *unstructured.Unstructured {
	return w.on.Get("Secret", g.Owner.Namespace, g.WireGuard.PrivateKey.Name)
}

func value(u *unstructured.Unstructured) string {
	text, _, _ := unstructured.NestedString(u.Object, "data", vpn.GeneratedKey)
	return text
}

// TestKeys: a key is made once, is a key, is never read by plans and applies, keeps its
// value whatever happens to its labels, and goes with its gateway.
func TestKeys(t *testing.T) { keysAreMade(t, newWorld) }

func keysAreMade(t *testing.T, open opening) {
	e := estate(t)
	g := keyed(t, e)
	w := open(t)
	p := w.plan(e, plan.Options{})
	w.apply(e, plan.Options{})
	first := w.key(g)
	if first == nil {
		t.Fatal("no key was made")
	}
	raw, err := base64.StdEncoding.DecodeString(value(first))
	if err != nil {
		t.Fatal(err)
	}
	private, err := wgtypes.ParseKey(string(raw))
	if err != nil || private[0]&7 != 0 || private[31]&192 != 64 {
		t.Fatalf("not a key: %v", err)
	}
	if strings.Contains(text(t, p), string(raw)) || strings.Contains(text(t, w.plan(e, plan.Options{})), value(first)) {
		t.Error("a plan holds a private key")
	}
	got, err := w.driver().PublicKey(t.Context(), g.Owner.Namespace, g.WireGuard.PrivateKey)
	if err != nil || got != private.PublicKey().String() {
		t.Errorf("public key %q %v, want %s", got, err, private.PublicKey())
	}
	if w.api != nil {
		w.api.Forget()
	}
	w.settled(e, plan.Options{})

	for _, spoil := range []func(*unstructured.Unstructured){
		func(u *unstructured.Unstructured) { u.SetAnnotations(nil) },
		func(u *unstructured.Unstructured) {
			u.SetLabels(map[string]string{state.LabelManagedBy: "vpnctl", state.LabelEstate: e.Name, state.LabelGateway: "x"})
		},
	} {
		spoilt := w.key(g)
		spoil(spoilt)
		w.put(spoilt.Object)
		if len(w.plan(e, plan.Options{}).Pending()) == 0 {
			t.Fatal("that the Secret's marks are gone was not seen")
		}
		w.apply(e, plan.Options{})
		w.settled(e, plan.Options{})
	}
	if value(w.key(g)) != value(first) {
		t.Fatal("the key changed")
	}
	if w.api != nil {
		for _, c := range w.api.Calls() {
			if c.Resource == "secrets" && !c.Metadata {
				t.Errorf("a value was on the wire: %+v", c)
			}
		}
	}

	gone := e
	gone.Gateways = slices.DeleteFunc(slices.Clone(e.Gateways), func(x vpn.Gateway) bool { return x.Owner == g.Owner })
	w.apply(gone, plan.Options{Prune: true})
	if w.key(g) != nil {
		t.Error("the key outlived its gateway")
	}
}

// TestKeysOfOthers: a Secret that somebody has put there serves as it is, and stays when
// the gateway goes.
func TestKeysOfOthers(t *testing.T) { keysOfOthers(t, newWorld) }

func keysOfOthers(t *testing.T, open opening) {
	e := estate(t)
	g := keyed(t, e)
	w := open(t)
	theirs := w.put(map[string]any{"apiVersion": "v1", "kind": "Secret",
		"metadata": map[string]any{"namespace": g.Owner.Namespace, "name": g.WireGuard.PrivateKey.Name}, "data": map[string]any{vpn.GeneratedKey: "eA=="}})
	w.apply(e, plan.Options{})
	w.settled(e, plan.Options{})
	e.Gateways = slices.DeleteFunc(e.Gateways, func(x vpn.Gateway) bool { return x.Owner == g.Owner })
	w.apply(e, plan.Options{Prune: true})
	if diff := cmp.Diff(theirs, w.key(g)); diff != "" {
		t.Errorf("it changed (-before +after)\n%s", diff)
	}
	if _, err := w.driver().PublicKey(t.Context(), g.Owner.Namespace, g.WireGuard.PrivateKey); err == nil || strings.Contains(err.Error(), "eA==") {
		t.Errorf("the error of a key that is none: %v", err)
	}
}

// TestAKeyStaysWithItsGateway: a gateway whose manifest names another Secret by now
// keeps the one that was made, until it goes.
func TestAKeyStaysWithItsGateway(t *testing.T) { keyStays(t, newWorld) }

func keyStays(t *testing.T, open opening) {
	e := estate(t)
	g := keyed(t, e)
	w := open(t)
	w.apply(e, plan.Options{})
	first := w.key(g)
	for i := range e.Gateways {
		if e.Gateways[i].Owner == g.Owner {
			other := *g.WireGuard
			other.GeneratedKey, other.PrivateKey = false, vpn.SecretRef{Name: "other", Key: "key"}
			e.Gateways[i].WireGuard = &other
		}
	}
	w.apply(e, plan.Options{})
	w.settled(e, plan.Options{})
	if diff := cmp.Diff(first, w.key(g)); diff != "" {
		t.Errorf("it changed (-before +after)\n%s", diff)
	}
	e.Gateways = slices.DeleteFunc(e.Gateways, func(x vpn.Gateway) bool { return x.Owner == g.Owner })
	w.apply(e, plan.Options{Prune: true})
	if w.key(g) != nil {
		t.Error("it outlived its gateway")
	}
}

// TestCopiesOfAKey: a Secret that a person made of a key, marks and all, or that a
// manifest names, is nothing of ours, while the gateway stands and when it goes.
func TestCopiesOfAKey(t *testing.T) { copiesStay(t, newWorld) }

func copiesStay(t *testing.T, open opening) {
	e := estate(t)
	g := keyed(t, e)
	w := open(t)
	w.apply(e, plan.Options{})
	spare := w.key(g)
	spare.SetName("spare")
	spare.SetUID("")
	spare.SetResourceVersion("")
	spare.SetManagedFields(nil)
	spare = w.put(spare.Object)
	i := slices.IndexFunc(e.Gateways, func(x vpn.Gateway) bool { return x.Owner.Namespace != g.Owner.Namespace && len(x.Peers) > 0 })
	user := &e.Gateways[i]
	heir := vpn.Owner{Kind: vpn.KindVPNGateway, Namespace: user.Owner.Namespace, Name: "heir"}
	user.Peers = slices.Clone(user.Peers)
	user.Peers[0].PSK = vpn.SecretRef{Name: heir.Name + vpn.GeneratedKeySuffix, Key: "psk"}
	named := secret(heir.Namespace, user.Peers[0].PSK.Name, "psk", "eA==")
	named["metadata"].(map[string]any)["labels"] = anyOf(state.Labels(e.Name, heir))
	named["metadata"].(map[string]any)["annotations"] = anyOf(state.Annotations(heir))
	w.put(named)
	w.apply(e, plan.Options{})
	w.settled(e, plan.Options{})
	e.Gateways = slices.DeleteFunc(e.Gateways, func(x vpn.Gateway) bool { return x.Owner == g.Owner })
	w.apply(e, plan.Options{Prune: true})
	if w.on.Get("Secret", spare.GetNamespace(), spare.GetName()) == nil {
		t.Error("the copy of the key was removed")
	}
	if w.on.Get("Secret", heir.Namespace, user.Peers[0].PSK.Name) == nil {
		t.Error("the Secret that a manifest names was removed")
	}
	if w.key(g) != nil {
		t.Error("the key outlived its gateway")
	}
}

// TestUnseenSecrets: without the right to list Secrets a plan says so, and is the same
// as with it once all is in place.
func TestUnseenSecrets(t *testing.T) {
	e := estate(t)
	keyed(t, e)
	w := newWorld(t)
	w.apply(e, plan.Options{})
	w.api.Deny(func(c fakeapi.Call) bool { return c.Resource == "secrets" })
	p := w.plan(e, plan.Options{})
	if len(p.Pending()) > 0 || len(p.Refusals) > 0 {
		t.Errorf("planned: %v, refused: %v", p.Pending(), p.Refusals)
	}
	if !slices.ContainsFunc(p.Notices, func(n plan.Notice) bool { return strings.Contains(n.Message, "Secrets can't be seen") }) {
		t.Errorf("the plan doesn't say what it couldn't see: %v", p.Notices)
	}
}

// TestSecretsSeen: which there are, by one list of metadata, and which keys are missing.
func TestSecretsSeen(t *testing.T) {
	e := estate(t, "acme")
	w := newWorld(t)
	for i := range 3 * 500 {
		w.put(secret("globex", fmt.Sprintf("far-%04d", i), "k", "dg=="))
	}
	held := w.put(secret("acme", "psk", "plant1", "dg=="))
	w.put(secret("acme", "empty", "plant1", ""))
	seen, err := w.driver().Observe(t.Context(), e, cloud.Scope{})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"acme/psk": held.GetResourceVersion(), "acme/empty": w.on.Get("Secret", "acme", "empty").GetResourceVersion()}
	if diff := cmp.Diff(want, seen.Secrets); diff != "" {
		t.Errorf("seen (-want +got)\n%s", diff)
	}
	asked := map[string][]vpn.SecretRef{"acme": {{Name: "psk", Key: "plant1"}, {Name: "psk", Key: "plant2"}, {Name: "empty", Key: "plant1"}, {Name: "none", Key: "k"}}}
	missing, notices, err := w.driver().Missing(t.Context(), asked)
	if err != nil || len(notices) > 0 {
		t.Fatal(err, notices)
	}
	if diff := cmp.Diff(map[string][]vpn.SecretRef{"acme": asked["acme"][1:]}, missing); diff != "" {
		t.Errorf("missing (-want +got)\n%s", diff)
	}
	w.api.Deny(func(c fakeapi.Call) bool { return c.Resource == "secrets" })
	missing, notices, err = w.driver().Missing(context.Background(), asked)
	if err != nil || len(missing) > 0 || len(notices) == 0 {
		t.Errorf("where nothing may be read: %v %v %v", missing, notices, err)
	}
}

func anyOf(m map[string]string) map[string]any {
	all := map[string]any{}
	for k, v := range m {
		all[k] = v
	}
	return all
}

func secret(namespace, name, key, value string) map[string]any {
	return map[string]any{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"namespace": namespace, "name": name}, "data": map[string]any{key: value}}
}
