package openstack

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/vpnctl/vpnctl/cloud/simulator"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// quoting repeats what it was sent, as an answer that refuses it.
type quoting struct {
	next http.RoundTripper
	at   func(path string) bool
	what string
}

func (q quoting) RoundTrip(r *http.Request) (*http.Response, error) {
	if !q.at(r.URL.Path) {
		return q.next.RoundTrip(r)
	}
	body := fmt.Sprintf(`{"error": {"code": 403, "title": "Forbidden", "message": "Could not find Application Credential: %s."}}`, q.what)
	return &http.Response{StatusCode: http.StatusForbidden, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
}

// TestACustomersCredentialIsInNoMessage, whatever the services answer.
func TestACustomersCredentialIsInNoMessage(t *testing.T) {
	for _, path := range []string{"/auth/tokens", "/routers", "/ports"} {
		for _, key := range []string{"OS_APPLICATION_CREDENTIAL_ID", "OS_APPLICATION_CREDENTIAL_SECRET"} {
			t.Run(key+" at "+path, func(t *testing.T) {
				c := newCrossing(t)
				theirs, err := c.Credentials("http://simulator.invalid", "customer")
				if err != nil {
					t.Fatal(err)
				}
				const secret = `the "secret" of a customer`
				env := map[string]string{"OS_AUTH_URL": theirs.Env["OS_AUTH_URL"]}
				var log bytes.Buffer
				at := func(p string) bool { return strings.HasSuffix(p, path) }
				o := Options{Env: func(k string) string { return theirs.Env[k] }, Clock: hasty(), Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))}
				what := theirs.Env[key]
				if path == "/auth/tokens" && strings.HasSuffix(key, "SECRET") {
					env["OS_APPLICATION_CREDENTIAL_ID"], env[key] = theirs.Env["OS_APPLICATION_CREDENTIAL_ID"], secret
					o.Env, what = func(k string) string { return env[k] }, strings.ReplaceAll(secret, `"`, `\"`)
				}
				o.Transport = quoting{simulator.Transport(c.Server), at, what}
				c.Driver.customer = func(context.Context, vpn.Link) (Options, error) { return o, nil }
				fault := c.observe().Sides[north].Fault
				if fault == nil || !strings.Contains(fault.Message, "(hidden)") {
					t.Fatalf("fault %v, want one that hides something", fault)
				}
				if said := fault.Message + log.String(); strings.Contains(said, what) || strings.Contains(said, secret) {
					t.Errorf("%s is in\n%s", key, said)
				}
			})
		}
	}
}

// TestCallsOfCustomersStayCounted, also where a credential's driver is given up: who counts
// would take it for a new beginning.
func TestCallsOfCustomersStayCounted(t *testing.T) {
	c := newCrossing(t)
	c.observe()
	before, again := c.Driver.Calls(), c.keystone(func() { c.revision = "2"; c.observe() })
	if after := c.Driver.Calls(); after <= before || again != 1 {
		t.Errorf("%d calls, then %d; %d logins", before, after, again)
	}
	before = c.Driver.Calls()
	c.Driver.customer = nil
	c.Reset()
	c.observe()
	made := 0
	for _, call := range c.Server.Calls() {
		if !call.Keystone() {
			made++
		}
	}
	if after := c.Driver.Calls(); after != before+made {
		t.Errorf("%d calls, then %d more, but %d in all", before, made, after)
	}
}
