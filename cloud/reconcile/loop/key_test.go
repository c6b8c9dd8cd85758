package loop_test

import (
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/vpnctl/vpnctl/cloud/kube/fakeapi"
	vpnv1alpha1 "github.com/vpnctl/vpnctl/crds/vpn/v1alpha1"
)

// about is a condition of the gateway whose key is made, and the public key in its status.
func (l *errand) about(condition string) (said, key string) {
	f := &apiField{World: l.World, api: l.api, c: l.c}
	u := l.api.Get("VPNGateway", "acme", "remote")
	key, _, _ = unstructured.NestedString(u.Object, "status", "wireguardPublicKey")
	return f.said("VPNGateway", "acme", "remote", condition), key
}

// TestAKeyThatIsNone: a gateway whose private key is none is not well, its old public key
// is not published any more, and nothing tells what is in the Secret. That ends with the
// key's return.
func TestAKeyThatIsNone(t *testing.T) {
	for name, c := range map[string]struct{ data, want string }{
		"no base64":    {"c2VjcmV0LWdhcmJhZ2U=", "is no private key of WireGuard"},
		"too short":    {"c2VjcmV0", "is no private key of WireGuard"},
		"nothing":      {"", "there is nothing in it"},
		"of all zeros": {"QUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQT0=", "is no private key of WireGuard"},
	} {
		t.Run(name, func(t *testing.T) {
			l := newErrand(t, func(*errand, fakeapi.Call) bool { return false })
			l.put(pskOfIna)
			l.rounds(2)
			said, first := l.about(vpnv1alpha1.ConditionConfigRendered)
			if !strings.HasPrefix(said, "True") || first == "" {
				t.Fatalf("at first: %s, key %q", said, first)
			}
			good := l.api.Get("Secret", "acme", "remote-wg-key")
			bad := good.DeepCopy()
			bad.Object["data"] = map[string]any{"privateKey": c.data, "privatekey": c.data}
			for key := range good.Object["data"].(map[string]any) {
				bad.Object["data"].(map[string]any)[key] = c.data
			}
			l.api.Put(t, bad.Object)
			l.rounds(2)
			said, key := l.about(vpnv1alpha1.ConditionConfigRendered)
			if !strings.HasPrefix(said, "False "+vpnv1alpha1.ReasonWGKey+": ") || !strings.Contains(said, c.want) || key != "" {
				t.Errorf("%s, and the key in the status is %q", said, key)
			}
			if ready, _ := l.about(vpnv1alpha1.ConditionReady); !strings.HasPrefix(ready, "False "+vpnv1alpha1.ReasonWGKey) {
				t.Errorf("Ready: %s", ready)
			}
			if c.data != "" && strings.Contains(l.said(), "secret-garbage") || strings.Contains(l.said(), "c2VjcmV0") {
				t.Error("something tells what is in the Secret")
			}
			good.SetResourceVersion("")
			l.api.Put(t, good.Object)
			l.rounds(1)
			if said, key := l.about(vpnv1alpha1.ConditionConfigRendered); !strings.HasPrefix(said, "True") || key != first {
				t.Errorf("with its key again: %s, key %q, want %q", said, key, first)
			}
		})
	}
}

// TestAKeyThatCantBeMade: where Secrets can't be listed no key is made, and the gateway
// doesn't say that all is well.
func TestAKeyThatCantBeMade(t *testing.T) {
	for name, c := range map[string]struct {
		verbs []string
		want  string
	}{
		"not listed":              {[]string{"list"}, "False " + vpnv1alpha1.ReasonWGKey + ": "},
		"neither listed nor read": {[]string{"list", "get"}, "Unknown Pending: "},
	} {
		t.Run(name, func(t *testing.T) {
			l := newErrand(t, func(_ *errand, call fakeapi.Call) bool {
				return call.Resource == "secrets" && strings.Contains(strings.Join(c.verbs, " "), call.Verb)
			})
			l.rounds(2)
			l.pods(true)
			l.rounds(1)
			if said, _ := l.about(vpnv1alpha1.ConditionConfigRendered); !strings.HasPrefix(said, c.want) {
				t.Errorf("%s, want %s", said, c.want)
			}
			if ready, _ := l.about(vpnv1alpha1.ConditionReady); strings.HasPrefix(ready, "True") {
				t.Errorf("Ready: %s", ready)
			}
		})
	}
}

// TestWhoLeadsAgain: nothing of an earlier turn is shown as if it held, and readiness
// begins anew.
func TestWhoLeadsAgain(t *testing.T) {
	bubble(t, func(t *testing.T, f *field) {
		f.write(manifestsOf(t, "acme/dc1")...)
		c := f.controller()
		f.running(c, func() {
			time.Sleep(10 * time.Second)
			f.wantReady(acme)
		})
		f.cluster.fails(func(string, bool) error { return errGone })
		f.running(c, func() {
			time.Sleep(5 * time.Second)
			probe := httptest.NewRecorder()
			c.Handler().ServeHTTP(probe, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/readyz", nil))
			if probe.Code != http.StatusServiceUnavailable || !strings.Contains(probe.Body.String(), errGone.Error()) {
				t.Errorf("ready: %d %s", probe.Code, probe.Body)
			}
			if page := get(t, c, "/"); strings.Contains(page, "VPNGateway/acme/dc1") || !strings.Contains(page, "has not been looked at yet") {
				t.Errorf("the page shows an earlier turn:\n%s", page)
			}
		})
	})
}

// TestADeafController says once in the log that changes can't be watched, and on the page
// as long as it is so.
func TestADeafController(t *testing.T) {
	bubble(t, func(t *testing.T, f *field) {
		var log strings.Builder
		c := f.controller()
		c.Log = slog.New(slog.NewTextHandler(&log, nil))
		for range 3 {
			c.Deaf("secrets", errors.New("not for you"))
		}
		if n := strings.Count(log.String(), "not for you"); n != 1 {
			t.Errorf("said %d times:\n%s", n, log.String())
		}
		if page := get(t, c, "/"); !strings.Contains(page, "Changes of secrets are not told of") || !strings.Contains(page, "not for you") {
			t.Errorf("the page doesn't tell:\n%s", page)
		}
		c.Deaf("secrets", nil)
		if page := get(t, c, "/"); strings.Contains(page, "not for you") {
			t.Errorf("the page still tells:\n%s", page)
		}
	})
}
