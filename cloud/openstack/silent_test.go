package openstack

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/cloud/simulator"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// silent answers nothing where at says so, until who asks gives up.
type silent struct {
	next  http.RoundTripper
	at    func(path string) bool
	asked chan struct{} // closed once somebody waits
}

func (s silent) RoundTrip(r *http.Request) (*http.Response, error) {
	if !s.at(r.URL.Path) {
		return s.next.RoundTrip(r)
	}
	close(s.asked)
	<-r.Context().Done()
	return nil, context.Cause(r.Context())
}

// TestACustomerWhoNeverAnswers holds nobody else up: the look has a time of its own, and
// what it ends with is a fault like others.
func TestACustomerWhoNeverAnswers(t *testing.T) {
	for path, want := range map[string]cloud.CredentialError{
		"/auth/tokens": {Reason: cloud.ReasonPending, Passing: true},
		"/routers":     {Reason: "RouterResolveFailed", Passing: true},
	} {
		t.Run(path, func(t *testing.T) {
			c := newCrossing(t)
			find, s := c.Driver.customer, silent{simulator.Transport(c.Server), func(p string) bool { return strings.HasSuffix(p, path) }, make(chan struct{})}
			c.Driver.customer = func(ctx context.Context, l vpn.Link) (Options, error) {
				o, err := find(ctx, l)
				o.Transport = s
				return o, err
			}
			var given time.Duration
			c.Driver.clock.Within = func(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
				ctx, end := context.WithCancelCause(ctx)
				given = d
				go func() { <-s.asked; end(context.DeadlineExceeded) }()
				return ctx, func() { end(nil) }
			}
			want.Message = "no answer within 30s"
			if fault := c.observe().Sides[north].Fault; fault == nil || *fault != want {
				t.Errorf("fault %+v, want %+v", fault, want)
			}
			if given != customerTime {
				t.Errorf("it had %s", given)
			}
		})
	}
}

// TestACustomersServicesAreAskedTwice: what fails is tried again, but not for long, and
// what is wrong with them is told from what is wrong with the credential.
func TestACustomersServicesAreAskedTwice(t *testing.T) {
	for sentence, c := range map[string]struct {
		path   string
		status int
		want   cloud.CredentialError
		calls  int
	}{
		"Keystone has a fault":      {"/auth/tokens", http.StatusServiceUnavailable, cloud.CredentialError{Reason: cloud.ReasonPending, Passing: true}, 2},
		"Keystone refuses":          {"/auth/tokens", http.StatusForbidden, cloud.CredentialError{Reason: "AuthenticationFailed"}, 1},
		"Neutron has a fault":       {"/routers", http.StatusServiceUnavailable, cloud.CredentialError{Reason: "RouterResolveFailed", Passing: true}, 2},
		"Neutron asks for patience": {"/routers", http.StatusTooManyRequests, cloud.CredentialError{Reason: "RouterResolveFailed", Passing: true}, 2},
		"Neutron refuses":           {"/routers", http.StatusForbidden, cloud.CredentialError{Reason: "RouterResolveFailed"}, 1},
	} {
		t.Run(sentence, func(t *testing.T) {
			x := newCrossing(t)
			calls := 0
			find := x.Driver.customer
			x.Driver.customer = func(ctx context.Context, l vpn.Link) (Options, error) {
				o, err := find(ctx, l)
				o.Transport = refusing{o.Transport, c.path, c.status, &calls}
				return o, err
			}
			fault := x.observe().Sides[north].Fault
			if fault == nil || fault.Reason != c.want.Reason || fault.Passing != c.want.Passing {
				t.Errorf("fault %+v, want %+v", fault, c.want)
			}
			if calls != c.calls {
				t.Errorf("%d calls, want %d", calls, c.calls)
			}
		})
	}
}

// refusing answers calls of one path with one status.
type refusing struct {
	next   http.RoundTripper
	path   string
	status int
	calls  *int
}

func (f refusing) RoundTrip(r *http.Request) (*http.Response, error) {
	if !strings.HasSuffix(r.URL.Path, f.path) {
		return f.next.RoundTrip(r)
	}
	*f.calls++
	return &http.Response{StatusCode: f.status, Header: http.Header{}, Body: http.NoBody, Request: r}, nil
}
