package openstack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vpnctl/vpnctl/cloud"
)

// scripted answers one status after the other; 0 is a connection that broke, -1
// an answer that breaks off.
type scripted struct {
	statuses []int
	after    string // Retry-After
	bodies   []string
}

func (s *scripted) RoundTrip(r *http.Request) (*http.Response, error) {
	sent := ""
	if r.Body != nil {
		b, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		sent = string(b)
	}
	s.bodies = append(s.bodies, sent)
	status := s.statuses[min(len(s.bodies), len(s.statuses))-1]
	body := io.NopCloser(strings.NewReader(`{}`))
	switch status {
	case 0:
		return nil, io.ErrUnexpectedEOF
	case -1:
		status, body = 200, io.NopCloser(io.MultiReader(strings.NewReader(`{"po`), broken{}))
	}
	h := http.Header{}
	if s.after != "" {
		h.Set("Retry-After", s.after)
	}
	return &http.Response{StatusCode: status, Header: h, Body: body, Request: r}, nil
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func TestWhichCallsAreRepeated(t *testing.T) {
	for name, c := range map[string]struct {
		method, path string
		statuses     []int
		sent         int // how often
		status       int // what comes back, 0: an error
	}{
		"a read that fails at times":            {"GET", "/v2.0/ports", []int{500, 503, 0, -1, 200}, 5, 200},
		"a read that always fails":              {"GET", "/v2.0/ports", []int{502}, tries, 502},
		"a change of what exists":               {"PUT", "/v2.0/ports/1", []int{504, 200}, 2, 200},
		"a deletion":                            {"DELETE", "/v2.0/ports/1", []int{0, 204}, 2, 204},
		"a create that fails is not repeated":   {"POST", "/v2.0/ports", []int{500, 201}, 1, 500},
		"a create that is lost is not repeated": {"POST", "/v2.0/ports", []int{0, 201}, 1, 0},
		"a create that was not looked at is":    {"POST", "/v2.0/ports", []int{429, 201}, 2, 201},
		"a login is":                            {"POST", "/identity/v3/auth/tokens", []int{503, 0, 201}, 3, 201},
		"a refusal is an answer":                {"PUT", "/v2.0/ports/1", []int{409, 200}, 1, 409},
		"what is not built is an answer":        {"GET", "/v2.0/ports", []int{501, 200}, 1, 501},
		"so is what is not there":               {"DELETE", "/v2.0/ports/1", []int{404, 204}, 1, 404},
	} {
		t.Run(name, func(t *testing.T) {
			next := &scripted{statuses: c.statuses}
			rt := &transport{next: next, clock: hasty(), log: slog.New(slog.DiscardHandler), calls: new(atomic.Int64)}
			req, err := http.NewRequestWithContext(t.Context(), c.method, "http://cloud.invalid"+c.path, strings.NewReader(`{"a":1}`))
			if err != nil {
				t.Fatal(err)
			}
			resp, err := rt.RoundTrip(req)
			status := 0
			if err == nil {
				status = resp.StatusCode
				resp.Body.Close()
			}
			if len(next.bodies) != c.sent || status != c.status {
				t.Errorf("sent %d times, status %d, error %v; want %d times, status %d", len(next.bodies), status, err, c.sent, c.status)
			}
			for i, b := range next.bodies {
				if b != `{"a":1}` {
					t.Errorf("attempt %d sent %q", i+1, b)
				}
			}
			if int(rt.calls.Load()) != c.sent {
				t.Errorf("counted %d calls, want %d", rt.calls.Load(), c.sent)
			}
		})
	}
}

func TestAnUntrustedCertificateIsNotTriedAgain(t *testing.T) {
	server := httptest.NewTLSServer(http.NotFoundHandler())
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	defer server.Close()
	rt := &transport{next: http.DefaultTransport, clock: hasty(), log: slog.New(slog.DiscardHandler), calls: new(atomic.Int64)}
	req, err := http.NewRequestWithContext(t.Context(), "GET", server.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := rt.RoundTrip(req)
	if err == nil {
		resp.Body.Close()
	}
	if n := rt.calls.Load(); err == nil || n != 1 {
		t.Errorf("%d calls, the last one: %v", n, err)
	}
}

func TestACancelledCallIsNotRepeated(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	next := &scripted{statuses: []int{500}}
	rt := &transport{next: next, log: slog.New(slog.DiscardHandler),
		clock: Clock{Now: time.Now, Sleep: func(ctx context.Context, _ time.Duration) error { cancel(); return ctx.Err() }}}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://cloud.invalid/", nil)
	if err != nil {
		t.Fatal(err)
	}
	if resp, err := rt.RoundTrip(req); !errors.Is(err, context.Canceled) {
		t.Errorf("answer %v, error %v, want the cancellation", resp, err)
	}
	if len(next.bodies) != 1 {
		t.Errorf("sent %d times, want once", len(next.bodies))
	}
}

func TestFaultsInWords(t *testing.T) {
	long := strings.Repeat("x", 400)
	for name, c := range map[string]struct {
		status int
		body   string
		want   string
	}{
		"neutron":        {409, `{"NeutronError":{"type":"IpAddressAlreadyAllocated","message":"IP address 10.0.0.1 is taken.","detail":""}}`, "409 IpAddressAlreadyAllocated: IP address 10.0.0.1 is taken (req-1)"},
		"nova":           {409, `{"conflictingRequest":{"code":409,"message":"Port is in use"}}`, "409 conflictingRequest: Port is in use (req-1)"},
		"keystone":       {401, `{"error":{"code":401,"title":"Unauthorized","message":"Log in."}}`, "401 Unauthorized: Log in (req-1)"},
		"an old neutron": {404, `{"NeutronError":"not there"}`, "404: not there (req-1)"},
		"a proxy's page": {502, "<html>\n<body>Bad\nGateway</body>", "502: Bad Gateway (req-1)"},
		"nothing":        {414, "", "414: Request URI Too Long (req-1)"},
		"a long story":   {400, `{"NeutronError":{"type":"X","message":"` + long + `"}}`, "400 X: " + long[:300] + "… (req-1)"},
	} {
		t.Run(name, func(t *testing.T) {
			got := answer(c.status, http.Header{"X-Openstack-Request-Id": {"req-1"}}, []byte(c.body)).Error()
			if got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestFaultsAreOneOfTheCloudsErrorsOrNone(t *testing.T) {
	all := []error{cloud.ErrQuota, cloud.ErrConflict, cloud.ErrRejected, cloud.ErrUnresolved}
	for name, c := range map[string]struct {
		status int
		kind   string
		want   error
	}{
		"the quota":                     {409, "OverQuota", cloud.ErrQuota},
		"a group that a port is in":     {409, "SecurityGroupInUse", cloud.ErrConflict},
		"an address on another address": {409, "FloatingIPPortAlreadyAssociated", cloud.ErrConflict},
		"an interface that is taken":    {409, "PortInUse", cloud.ErrConflict},
		"a port of the network's own":   {409, "ServicePortInUse", cloud.ErrConflict},
		"what is not understood":        {400, "HTTPBadRequest", cloud.ErrRejected},
		"what is not allowed":           {403, "PolicyNotAuthorized", cloud.ErrRejected},
		"no address left":               {409, "IpAddressGenerationFailure", nil},
		"what is not there":             {404, "PortNotFound", nil},
		"a server in trouble":           {500, "HTTPInternalServerError", nil},
	} {
		t.Run(name, func(t *testing.T) {
			err := answer(c.status, nil, fmt.Appendf(nil, `{"NeutronError":{"type":%q,"message":"m"}}`, c.kind))
			for _, e := range all {
				if errors.Is(err, e) != (e == c.want) {
					t.Errorf("%v is %v: %t", err, e, errors.Is(err, e))
				}
			}
		})
	}
}

func TestRetryAfterIsSecondsOrADate(t *testing.T) {
	now := "Mon, 02 Mar 2026 10:00:00 GMT"
	for name, c := range map[string]struct {
		after, date string
		want        time.Duration
	}{
		"seconds":                      {"7", now, 7 * time.Second},
		"a date":                       {"Mon, 02 Mar 2026 10:00:12 GMT", now, 12 * time.Second},
		"a date that is past":          {"Mon, 02 Mar 2026 09:59:00 GMT", now, 0},
		"a date, and no time of today": {"Mon, 02 Mar 2026 10:00:12 GMT", "", 0},
		"none":                         {"", now, 0},
		"nonsense":                     {"soon", now, 0},
		"a time before now":            {"-5", now, 0},
	} {
		if got := retryAfter(http.Header{"Retry-After": {c.after}, "Date": {c.date}}); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// A log tells each call and nothing that could be used to make one.
func TestTheLogHoldsNoSecret(t *testing.T) {
	var log bytes.Buffer
	rt := &transport{next: &scripted{statuses: []int{200}}, clock: hasty(),
		log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://cloud.invalid/v3/auth/tokens", strings.NewReader(`{"secret":"hush"}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Auth-Token", "gAAAA-token")
	resp, err := rt.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if !strings.Contains(log.String(), "/v3/auth/tokens") {
		t.Errorf("the call is not in the log: %s", log.String())
	}
	for _, secret := range []string{"hush", "gAAAA"} {
		if strings.Contains(log.String(), secret) {
			t.Errorf("%q is in the log: %s", secret, log.String())
		}
	}
}
