package loop_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	vpnv1alpha1 "github.com/vpnctl/vpnctl/crds/vpn/v1alpha1"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// labelled is a manifest that an apply of another estate has written.
func labelled(t *testing.T, all []vpn.Manifest) []vpn.Manifest {
	t.Helper()
	labels := `"metadata":{"labels":{"app.kubernetes.io/managed-by":"vpnctl","vpn.bnerd.net/estate":"lab"},`
	for i := range all {
		all[i] = edited(t, all[i], `"metadata":{`, labels)
	}
	return all
}

// TestAnotherEstatesGatewaysAreLeftAlone: a manifest whose label names another estate, or
// whose gateway's Deployment does, gets no finalizer and no status, and is not released.
func TestAnotherEstatesGatewaysAreLeftAlone(t *testing.T) {
	deployment := map[string]any{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{
		"namespace": "acme", "name": "dc1",
		"labels":      map[string]any{"app.kubernetes.io/managed-by": "vpnctl", "vpn.bnerd.net/estate": "lab", "vpn.bnerd.net/gateway": "dc1"},
		"annotations": map[string]any{"vpn.bnerd.net/owner": "VPNGateway/acme/dc1"},
	}}
	bare := map[string]any{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{
		"namespace": "acme", "name": "dc1", "labels": map[string]any{"app.kubernetes.io/managed-by": "vpnctl", "vpn.bnerd.net/estate": "lab"},
	}}
	for name, c := range map[string]struct {
		labelled   bool
		deployment map[string]any
		says       []string
	}{
		"its manifests say so": {labelled: true, says: []string{
			"VPNGateway acme/dc1 is left alone: its label names estate lab", "VPNPeer acme/plant1 is left alone: its label names estate lab"}},
		"its Deployment says so": {deployment: deployment, says: []string{
			"VPNGateway acme/dc1 is left alone: its Deployment is one of estate lab", "VPNPeer acme/plant1 is left alone: its gateway is one of estate lab"}},
		"its Deployment says so without an owner": {deployment: bare, says: []string{
			"VPNGateway acme/dc1 is left alone: its Deployment is one of estate lab"}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFieldOverAPI(t)
			var log bytes.Buffer
			f.c.Log = slog.New(slog.NewTextHandler(&log, nil))
			all := manifestsOf(t, "acme/dc1")
			if c.labelled {
				all = labelled(t, all)
			}
			f.put(all...)
			if c.deployment != nil {
				f.api.Put(t, c.deployment)
			}
			cloud := f.Look()
			f.turns(2)
			gateway := f.api.Get("VPNGateway", "acme", "dc1")
			if len(gateway.GetFinalizers()) > 0 || gateway.Object["status"] != nil || f.api.Get("VPNPeer", "acme", "plant1").Object["status"] != nil {
				t.Errorf("it was touched: finalizers %v, status %v", gateway.GetFinalizers(), gateway.Object["status"])
			}
			gateway.SetFinalizers([]string{vpnv1alpha1.Finalizer}) // that estate's own reconcile
			f.api.Put(t, gateway.Object)
			f.api.Remove(t, "VPNGateway", "acme", "dc1")
			f.turns(3)
			if f.api.Get("VPNGateway", "acme", "dc1") == nil {
				t.Error("it was released")
			}
			if f.Look() != cloud {
				t.Error("something was made in the cloud")
			}
			page := get(t, f.c, "/")
			for _, text := range c.says {
				if !strings.Contains(page, text) || strings.Count(log.String(), text) != 1 {
					t.Errorf("%q: on the page %v, %d times in the log", text, strings.Contains(page, text), strings.Count(log.String(), text))
				}
			}
		})
	}
}

// TestAnotherEstatesLabelOnAPeer: where the gateway is ours it is left as it is, tunnel
// and all, and says so, until the label is off.
func TestAnotherEstatesLabelOnAPeer(t *testing.T) {
	f := newFieldOverAPI(t)
	var log bytes.Buffer
	f.c.Log = slog.New(slog.NewTextHandler(&log, nil))
	f.put(manifestsOf(t, "acme/dc1")...)
	f.turns(2)
	objects := func() string {
		text := f.Look()
		for _, o := range f.api.All() {
			if o.GetLabels()["app.kubernetes.io/managed-by"] == "vpnctl" {
				data, err := o.MarshalJSON()
				if err != nil {
					t.Fatal(err)
				}
				text += string(data) + "\n"
			}
		}
		return text
	}
	before := objects()
	peer := f.api.Get("VPNPeer", "acme", "plant1")
	peer.SetLabels(map[string]string{"vpn.bnerd.net/estate": "other"})
	f.api.Put(t, peer.Object)
	f.turns(3)
	if diff := cmp.Diff(before, objects()); diff != "" {
		t.Errorf("the gateway changed (-want +got)\n%s", diff)
	}
	ready := f.said("VPNGateway", "acme", "dc1", vpnv1alpha1.ConditionReady)
	for _, part := range []string{"False RenderInputFailed: ", "the last good state stays: peer plant1: ", "names estate other", "take the label off"} {
		if !strings.Contains(ready, part) {
			t.Errorf("no %q in %s", part, ready)
		}
	}
	page := get(t, f.c, "/")
	for where, text := range map[string]string{"the log": log.String(), "the page": page} {
		if n := strings.Count(text, "peer acme/plant1 names estate other in its label vpn.bnerd.net/estate"); n != 1 {
			t.Errorf("%s says %d times whose label it is:\n%s", where, n, text)
		}
	}

	peer = f.api.Get("VPNPeer", "acme", "plant1")
	peer.SetLabels(nil)
	f.api.Put(t, peer.Object)
	f.turns(2)
	if ready := f.said("VPNGateway", "acme", "dc1", vpnv1alpha1.ConditionReady); strings.Contains(ready, "plant1: ") {
		t.Errorf("without the label: %s", ready)
	}
	if diff := cmp.Diff(before, objects()); diff != "" {
		t.Errorf("without the label the gateway changed (-want +got)\n%s", diff)
	}
	peer = f.api.Get("VPNPeer", "acme", "plant1")
	peer.SetLabels(map[string]string{"vpn.bnerd.net/estate": "other"})
	f.api.Put(t, peer.Object)
	f.api.Remove(t, "VPNPeer", "acme", "plant1")
	f.turns(2)
	if ready := f.said("VPNGateway", "acme", "dc1", vpnv1alpha1.ConditionReady); strings.Contains(ready, "plant1") || before == objects() {
		t.Errorf("a peer that was deleted still counts: %s", ready)
	}
}
