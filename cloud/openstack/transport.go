package openstack

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync/atomic"
	"time"
)

// The retry policy: tries in all, and the first pause, which is doubled each time.
const (
	tries     = 5
	firstWait = 250 * time.Millisecond
)

// fewTries is the context of calls that are tried less often than others.
type fewTries struct{}

// hurried has calls tried twice: who waits for them has little time.
func hurried(ctx context.Context) context.Context { return context.WithValue(ctx, fewTries{}, 2) }

// triesIn is how often a call is tried in all.
func triesIn(ctx context.Context) int {
	if few, is := ctx.Value(fewTries{}).(int); is {
		return few
	}
	return tries
}

// transport is the one place where calls are repeated.
//
//	429                         any method: it was not carried out
//	500 502 503 504, no answer  GET, PUT, DELETE and logins: repeating them is safe
//	                            other POSTs: returned, whoever creates looks first
//
// It reads the whole body, so that an answer that breaks off counts as none.
type transport struct {
	next     http.RoundTripper
	clock    Clock
	log      *slog.Logger
	identity string          // Keystone's URL without its version
	stop     <-chan struct{} // closed: no waiting for another attempt
	secrets  []string        // which no answer may repeat; see secrets
	calls    *atomic.Int64   // nil: nobody counts
}

// RoundTrip sends the request until there is an answer worth returning.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	var spent time.Duration
	for attempt := 1; ; attempt++ {
		resp, err := t.send(req, attempt)
		if ctx.Err() != nil || attempt == triesIn(ctx) || !again(req, resp, err) {
			return resp, err
		}
		var h http.Header
		if resp != nil {
			h = resp.Header
		}
		switch more, cut := t.wait(ctx, &spent, pause(attempt, retryAfter(h))); {
		case cut != nil:
			return nil, cut
		case !more:
			return resp, err
		}
	}
}

// send makes one attempt and reads its answer whole.
func (t *transport) send(req *http.Request, attempt int) (*http.Response, error) {
	if attempt > 1 {
		req = req.Clone(req.Context())
		if req.GetBody != nil {
			body, err := req.GetBody()
			if err != nil {
				return nil, err
			}
			req.Body = body
		}
	}
	if t.calls != nil && !t.login(req) {
		t.calls.Add(1)
	}
	start := t.clock.Now()
	resp, err := t.next.RoundTrip(req)
	if err == nil {
		err = t.buffer(resp)
	}
	t.note(req, resp, err, attempt, t.clock.Now().Sub(start))
	if err != nil {
		return nil, err
	}
	return resp, nil
}

// buffer reads an answer whole, and takes the credential out of one that tells of a fault:
// it is quoted to people, and Keystone's name it.
func (t *transport) buffer(resp *http.Response) error {
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if resp.StatusCode >= http.StatusBadRequest {
		for _, s := range t.secrets {
			body = bytes.ReplaceAll(body, []byte(s), []byte("(hidden)"))
		}
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return err
}

// login tells whether the request goes to Keystone.
func (t *transport) login(req *http.Request) bool {
	below, keystone := strings.CutPrefix(req.URL.String(), t.identity)
	return t.identity != "" && keystone && (strings.HasPrefix(below, "/v3") || strings.Trim(below, "/") == "")
}

func (t *transport) note(req *http.Request, resp *http.Response, err error, attempt int, took time.Duration) {
	line := []any{"method", req.Method, "path", req.URL.Path, "attempt", attempt, "took", took.Round(time.Millisecond)}
	if err != nil {
		line = append(line, "error", err.Error())
	} else {
		line = append(line, "status", resp.StatusCode, "request", resp.Header.Get("X-Openstack-Request-Id"))
	}
	t.log.Debug("openstack call", line...)
}

// again tells whether the outcome of a call is one to try again.
func again(req *http.Request, resp *http.Response, err error) bool {
	if req.Body != nil && req.GetBody == nil {
		return false // the body is gone
	}
	if err == nil && resp.StatusCode == http.StatusTooManyRequests {
		return true
	}
	if req.Method == http.MethodPost && !strings.HasSuffix(req.URL.Path, "/auth/tokens") {
		return false
	}
	if err != nil {
		var untrusted *tls.CertificateVerificationError
		return !errors.As(err, &untrusted) // that takes somebody's hand, not time
	}
	switch resp.StatusCode {
	case http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

// pause is how long to wait after the n-th attempt: what the service asked for,
// within bounds, or a doubling time with some jitter, so that callers that were
// refused together don't come back together.
func pause(n int, asked time.Duration) time.Duration {
	if asked > 0 {
		return min(asked, longWait)
	}
	wait := firstWait << (n - 1)
	return wait + rand.N(wait/4)
}

// Clock is how the driver waits. Its zero value is the real one.
type Clock struct {
	Now   func() time.Time
	Sleep func(ctx context.Context, d time.Duration) error // returns early, with ctx's error

	// Within ends a context after a time.
	Within func(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc)
}

func (c Clock) complete() Clock {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Sleep == nil {
		c.Sleep = sleep
	}
	if c.Within == nil {
		c.Within = context.WithTimeout
	}
	return c
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}
