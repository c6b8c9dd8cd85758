package report_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vpnctl/vpnctl/agent/report"
	"github.com/vpnctl/vpnctl/agent/report/fakeapi"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// hidden is a value that nothing but its receiver may see.
const hidden = "do-not-show-this"

func TestSecrets(t *testing.T) {
	const neverAnswers = "a server that never answers"
	psk := vpn.SecretRef{Name: "ina", Key: "psk"}
	for sentence, c := range map[string]struct {
		prepare func(*cluster)
		ref     vpn.SecretRef
		found   bool
		errs    []string // parts of the error; none: no error
	}{
		"a key is had":              {nil, psk, true, nil},
		"a key that isn't there":    {nil, vpn.SecretRef{Name: "ina", Key: "other"}, false, nil},
		"a Secret that isn't there": {func(c *cluster) { c.DeleteSecret("acme", "ina") }, psk, false, nil},
		"a Secret of another":       {nil, vpn.SecretRef{Name: "bob", Key: "psk"}, false, []string{"Role acme/dc1", "get secrets bob", "Secret acme/bob"}},
		"a name that is a path":     {nil, vpn.SecretRef{Name: "../secrets/ina", Key: "psk"}, false, []string{"../secrets/ina"}},
		"a server that errs":        {fault(fakeapi.Reply{Code: 500, Message: "etcd"}), psk, false, []string{"Secret acme/ina", "500", "etcd"}},
		"a server that is busy":     {fault(fakeapi.Reply{Code: 429, Message: "busy"}), psk, false, []string{"429"}},
		"an answer that is no JSON": {fault(fakeapi.Reply{Body: hidden}), psk, false, []string{"isn't a Secret"}},
		"an answer of another kind": {fault(fakeapi.Reply{Body: `{"kind":"List","data":{"psk":"` + hidden + `"}}`}), psk, false, []string{"isn't a Secret"}},
		"a value that is no base64": {fault(fakeapi.Reply{Body: `{"kind":"Secret","data":{"psk":"` + hidden + `"}}`}), psk, false, []string{"isn't a Secret"}},
		"a connection that is cut":  {fault(fakeapi.Reply{Lost: true}), psk, false, []string{"asking https://"}},
		neverAnswers:                {(*cluster).Hang, psk, false, []string{"no answer from https://", "within 300ms"}},
		"a server that is away":     {(*cluster).Down, psk, false, []string{"Secret acme/ina"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			pace := fast
			pace.Call = 30 * time.Second
			if sentence == neverAnswers {
				pace.Call = 300 * time.Millisecond
			}
			api := serve(t, pace, vpnGateway, "ina")
			value := []byte(hidden + "\x00\xff\n")
			api.SetSecret("acme", "ina", map[string][]byte{"psk": value})
			api.SetSecret("acme", "bob", map[string][]byte{"psk": value})
			if c.prepare != nil {
				c.prepare(api)
			}
			data, found, err := api.client.Secret(t.Context(), c.ref)
			if found != c.found || found != bytes.Equal(data, value) {
				t.Errorf("found %v, the value: %v", found, bytes.Equal(data, value))
			}
			if (err != nil) != (len(c.errs) > 0) {
				t.Fatalf("error %v, want one with %q", err, c.errs)
			}
			for _, part := range c.errs {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("error %q doesn't say %q", err, part)
				}
			}
			if err != nil && (strings.Contains(err.Error(), hidden) || strings.Contains(err.Error(), api.account.Token())) {
				t.Errorf("error %q holds a secret", err)
			}
		})
	}
}

func fault(r fakeapi.Reply) func(*cluster) {
	return func(c *cluster) { c.Intercept(func(fakeapi.Request) fakeapi.Reply { return r }) }
}

// A token that ends is replaced by the one that is mounted then: one call may fail.
func TestTokenIsReadAgain(t *testing.T) {
	api := serve(t, fast, vpnGateway, "ina")
	api.SetSecret("acme", "ina", map[string][]byte{"psk": []byte("x")})
	ref := vpn.SecretRef{Name: "ina", Key: "psk"}
	for range 3 {
		if _, _, err := api.client.Secret(t.Context(), ref); err != nil {
			t.Fatal(err)
		}
		if err := api.account.Rotate(); err != nil {
			t.Fatal(err)
		}
		if _, _, err := api.client.Secret(t.Context(), ref); err == nil || !strings.Contains(err.Error(), "doesn't accept the pod's token") {
			t.Errorf("with the token that ended: %v", err)
		}
	}
	if _, found, err := api.client.Secret(t.Context(), ref); err != nil || !found {
		t.Errorf("with the new token: %v, %v", found, err)
	}
}

// What goes to another server is not the token.
func TestRedirectIsNotFollowed(t *testing.T) {
	api, other := serve(t, fast, vpnGateway, "ina"), serve(t, fast, vpnGateway)
	fault(fakeapi.Reply{Redirect: other.URL() + "/api/v1/namespaces/acme/secrets/ina"})(api)
	if _, _, err := api.client.Secret(t.Context(), vpn.SecretRef{Name: "ina", Key: "psk"}); err == nil || !strings.Contains(err.Error(), "307") {
		t.Errorf("redirected: %v", err)
	}
	if n := len(other.Requests()); n > 0 {
		t.Errorf("%d requests went elsewhere", n)
	}
}

// A server that the mounted CA doesn't vouch for gets neither token nor request.
func TestServerIsVerified(t *testing.T) {
	api, impostor := serve(t, fast, vpnGateway, "ina"), serve(t, fast, vpnGateway, "ina")
	dir := t.TempDir()
	if err := api.account.Mount(dir); err != nil {
		t.Fatal(err)
	}
	client, err := report.Kubernetes(report.Server{URL: impostor.URL(), Directory: dir}, fast)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := client.Secret(t.Context(), vpn.SecretRef{Name: "ina", Key: "psk"}); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("asked an impostor: %v", err)
	}
	if n := len(impostor.Requests()); n > 0 {
		t.Errorf("%d requests reached the impostor", n)
	}
}

// However many ask at once, calls are spaced.
func TestSecretsAreSpread(t *testing.T) {
	pace := fast
	pace.Spacing = 20 * time.Millisecond
	api := serve(t, pace, vpnGateway, "ina")
	begin := time.Now()
	done := make(chan error)
	for range 10 {
		go func() {
			_, _, err := api.client.Secret(t.Context(), vpn.SecretRef{Name: "ina", Key: "psk"})
			done <- err
		}()
	}
	for range 10 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if took := time.Since(begin); took < 9*pace.Spacing {
		t.Errorf("10 calls in %s", took)
	}
}

func TestPodWithoutAccount(t *testing.T) {
	dir := t.TempDir()
	if _, err := report.Kubernetes(report.Server{URL: "https://127.0.0.1:1", Directory: dir}, fast); err == nil || !strings.Contains(err.Error(), "namespace") {
		t.Errorf("without a mount: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "namespace"), []byte("acme"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"token", "ca.crt"} { // each is missed in its turn
		if _, err := report.Kubernetes(report.Server{URL: "https://127.0.0.1:1", Directory: dir}, fast); err == nil || !strings.Contains(err.Error(), file) {
			t.Errorf("without %s: %v", file, err)
		}
		if err := os.WriteFile(filepath.Join(dir, file), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestInCluster(t *testing.T) {
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	t.Setenv("KUBERNETES_SERVICE_PORT", "")
	if s, err := report.InCluster(); err == nil {
		t.Errorf("outside a pod: %v", s)
	}
	t.Setenv("KUBERNETES_SERVICE_HOST", "fd00::1")
	t.Setenv("KUBERNETES_SERVICE_PORT", "443")
	if s, err := report.InCluster(); err != nil || s.URL != "https://[fd00::1]:443" {
		t.Errorf("in a pod: %v, %v", s, err)
	}
}
