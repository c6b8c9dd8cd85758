package loop_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/cloud/kube/fakeapi"
	"github.com/vpnctl/vpnctl/cloud/reconcile/loop"
	vpnv1alpha1 "github.com/vpnctl/vpnctl/crds/vpn/v1alpha1"
)

// looser is a cluster whose CRDs let everything be written.
type looser struct {
	loop.Cluster
	edit func(*cloud.Manifest)
}

func (l *looser) Manifests(ctx context.Context) ([]cloud.Manifest, error) {
	all, err := l.Cluster.Manifests(ctx)
	for i := range all {
		l.edit(&all[i])
	}
	return all, err
}

// TestAStatusThatIsNone: one that can't be read is written anew, on a gateway that is
// made and on one that isn't valid.
func TestAStatusThatIsNone(t *testing.T) {
	for name, c := range map[string]struct{ protocol, want string }{
		"of a gateway":                   {"ipsec", "False PeerSecretMissing: "},
		"of a gateway that is not valid": {"gre", "False InvalidSpec: "},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFieldOverAPI(t)
			f.c.Cluster = &looser{f.c.Cluster, func(m *cloud.Manifest) {
				m.JSON = bytes.Replace(m.JSON, []byte(`"protocol":"ipsec"`), []byte(`"protocol":"`+c.protocol+`"`), 1)
				m.Status = []byte(`{"conditions":[{"type":"Ready","status":"True","reason":5}]}`)
			}}
			f.put(manifestsOf(t, "acme/dc1")...)
			f.turns(3)
			if got := f.said("VPNGateway", "acme", "dc1", vpnv1alpha1.ConditionReady); !strings.HasPrefix(got, c.want) {
				t.Errorf("it says %s, want %s", got, c.want)
			}
			if got := f.said("VPNPeer", "acme", "plant1", vpnv1alpha1.ConditionAuthorized); c.protocol == "ipsec" && !strings.HasPrefix(got, "True ") {
				t.Errorf("its peer says %s", got)
			}
		})
	}
}

// TestASpecThatIsNone gets no finalizer: an API server with our CRDs might not let it be
// taken off again.
func TestASpecThatIsNone(t *testing.T) {
	f := newFieldOverAPI(t)
	whole := f.c.Cluster
	f.c.Cluster = &looser{whole, func(m *cloud.Manifest) {
		m.JSON = bytes.Replace(m.JSON, []byte(`"spec":{`), []byte(`"spec":{"gatewayPod":"yes",`), 1)
	}}
	f.put(manifestsOf(t, "acme/dc1")...)
	f.turns(3)
	gateway := func() *unstructured.Unstructured { return f.api.Get("VPNGateway", "acme", "dc1") }
	if got := gateway().GetFinalizers(); len(got) > 0 {
		t.Errorf("finalizers %v", got)
	}
	if got := f.said("VPNGateway", "acme", "dc1", vpnv1alpha1.ConditionReady); !strings.HasPrefix(got, "False InvalidSpec: ") {
		t.Errorf("it says %s", got)
	}
	f.c.Cluster = whole
	f.turns(2)
	if got := gateway().GetFinalizers(); len(got) != 1 {
		t.Errorf("once it is one: finalizers %v", got)
	}
}

// TestAFinalizerThatStays: where the API server refuses the manifest as a whole, the log
// and the page say what helps, and once it does the manifest goes.
func TestAFinalizerThatStays(t *testing.T) {
	f := newFieldOverAPI(t)
	var log bytes.Buffer
	f.c.Log = slog.New(slog.NewTextHandler(&log, nil))
	f.put(manifestsOf(t, "acme/dc1")...)
	f.turns(2)
	f.api.Intercept(func(_ int, c fakeapi.Call) fakeapi.Fault {
		if c.Resource == "vpngateways" && c.Subresource == "" && c.Writes() {
			return fakeapi.Fault{Code: http.StatusUnprocessableEntity}
		}
		return fakeapi.Fault{}
	})
	f.api.Remove(t, "VPNGateway", "acme", "dc1")
	f.turns(3)
	if f.api.Get("VPNGateway", "acme", "dc1") == nil {
		t.Fatal("it is gone, though nobody could take the finalizer off")
	}
	const help = "correct in its manifest what the API server names"
	if page := get(t, f.c, "/"); !strings.Contains(page, "nothing of acme/dc1 is left, but its finalizer can&#39;t be taken off: ") || !strings.Contains(page, help) {
		t.Errorf("the page doesn't say what helps:\n%s", page)
	}
	if !strings.Contains(log.String(), help) {
		t.Errorf("the log doesn't say what helps:\n%s", log.String())
	}
	f.api.Intercept(nil)
	f.turns(1)
	for range 50 {
		if f.turns(1); f.api.Get("VPNGateway", "acme", "dc1") == nil {
			return
		}
	}
	t.Error("it is still there")
}
