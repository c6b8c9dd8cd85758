package kube_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/vpnctl/vpnctl/cloud/kube"
	"github.com/vpnctl/vpnctl/cloud/kube/fakeapi"
)

// TestTheLeaderOfAnotherEstate is seen while it is alive, and only by other estates.
func TestTheLeaderOfAnotherEstate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	led, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- w.driver().Lead(ctx, lease("p"), func(ctx context.Context, _ string) error {
			close(led)
			<-ctx.Done()
			return ctx.Err()
		})
	}()
	<-led
	other, err := w.driver().OtherLeader(t.Context(), "lab")
	if err != nil || other == nil || other.Estate != "acme" || other.Name != "p" || other.Lease != "acme/vpnctl" {
		t.Errorf("%+v %v", other, err)
	}
	if own, err := w.driver().OtherLeader(t.Context(), "acme"); own != nil || err != nil {
		t.Errorf("an estate is its own neighbour: %+v %v", own, err)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if other, err := w.driver().OtherLeader(t.Context(), "lab"); other != nil || err != nil {
		t.Errorf("after it has gone: %+v %v", other, err)
	}
	w.put(map[string]any{"apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
		"metadata": map[string]any{"namespace": "acme", "name": "killed", "labels": map[string]any{"app.kubernetes.io/managed-by": "vpnctl", "vpn.bnerd.net/estate": "acme"}},
		"spec":     map[string]any{"holderIdentity": "q", "leaseDurationSeconds": int64(1), "renewTime": time.Now().Add(time.Hour).UTC().Format("2006-01-02T15:04:05.000000Z")}})
	if other, err := w.driver().OtherLeader(t.Context(), "lab"); other != nil || err != nil {
		t.Errorf("one that was killed: %+v %v", other, err)
	}
}

// TestWhyNobodyCanLead: that the Lease is another's is no error; that it can't be asked
// for or made is, and is told.
func TestWhyNobodyCanLead(t *testing.T) {
	t.Parallel()
	type told struct {
		holder string
		err    error
	}
	for name, c := range map[string]struct {
		prepare      func(w *world, l *kube.Lease)
		holder, says string
	}{
		"somebody holds it": {func(w *world, _ *kube.Lease) {
			w.put(map[string]any{"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": map[string]any{"namespace": "acme", "name": "vpnctl"},
				"spec": map[string]any{"holderIdentity": "other", "leaseDurationSeconds": int64(600)}})
		}, "other", ""},
		"its namespace isn't there": {func(_ *world, l *kube.Lease) { l.Namespace = "amce" }, "", `Lease amce/vpnctl can't be had: namespaces "amce" not found`},
		"it may not be read": {func(w *world, _ *kube.Lease) {
			w.api.Intercept(func(_ int, _ fakeapi.Call) fakeapi.Fault { return fakeapi.Fault{Code: 403} })
		}, "", "Lease acme/vpnctl can't be had: "},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			l, tells := lease("p"), make(chan told, 1)
			l.Waits = func(holder string, err error) {
				select {
				case tells <- told{holder, err}:
				default:
				}
			}
			c.prepare(w, &l)
			ended := make(chan error, 1)
			go func() {
				ended <- w.driver().Lead(ctx, l, func(context.Context, string) error { return errors.New("it led") })
			}()
			select {
			case got := <-tells:
				if got.holder != c.holder || (got.err == nil) != (c.says == "") || got.err != nil && !strings.Contains(got.err.Error(), c.says) {
					t.Errorf("%q %v, want %q %q", got.holder, got.err, c.holder, c.says)
				}
			case err := <-ended:
				t.Fatal(err)
			}
			stop()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})
	}
}
