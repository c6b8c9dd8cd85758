package openstack

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func get(t *testing.T, ctx context.Context) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://cloud.invalid/", nil)
	if err != nil {
		t.Fatal(err)
	}
	return req
}

func TestRetryAfterIsHonouredWithinBounds(t *testing.T) {
	for name, c := range map[string]struct {
		after string
		want  []time.Duration
	}{
		"a short one":                          {"7", []time.Duration{7 * time.Second, 7 * time.Second, 7 * time.Second, 7 * time.Second}},
		"the sum is bounded":                   {"25", []time.Duration{25 * time.Second, 25 * time.Second, 10 * time.Second}},
		"a long one is bounded, as is the sum": {"86400", []time.Duration{30 * time.Second, 30 * time.Second}},
	} {
		t.Run(name, func(t *testing.T) {
			var slept []time.Duration
			next := &scripted{statuses: []int{503}, after: c.after}
			rt := &transport{next: next, log: slog.New(slog.DiscardHandler),
				clock: Clock{Now: time.Now, Sleep: func(_ context.Context, d time.Duration) error { slept = append(slept, d); return nil }}}
			resp, err := rt.RoundTrip(get(t, t.Context()))
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			if diff := cmp.Diff(c.want, slept); diff != "" {
				t.Errorf("slept (-want +got):\n%s", diff)
			}
			if resp.StatusCode != 503 || len(next.bodies) != len(c.want)+1 {
				t.Errorf("status %d after %d attempts, want 503 after %d", resp.StatusCode, len(next.bodies), len(c.want)+1)
			}
		})
	}
}

// A stop doesn't cut what is in flight, and nothing waits after it.
func TestAStopEndsTheWaiting(t *testing.T) {
	for name, c := range map[string]struct {
		statuses []int
		early    bool // the stop comes before the call
		tidying  bool
		sent     int
		status   int
	}{
		"between two attempts the last answer stands":    {[]int{503, 200}, false, false, 1, 503},
		"a call in flight is finished":                   {[]int{200}, true, false, 1, 200},
		"a call after the stop is made once":             {[]int{503, 200}, true, false, 1, 503},
		"what tidies up is repeated nevertheless":        {[]int{503, 200}, true, true, 2, 200},
		"a call without an answer returns its own error": {[]int{0, 200}, false, false, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			stop := make(chan struct{})
			if c.early {
				close(stop)
			}
			next := &scripted{statuses: c.statuses}
			rt := &transport{next: next, log: slog.New(slog.DiscardHandler), stop: stop, clock: Clock{Now: time.Now,
				Sleep: func(ctx context.Context, _ time.Duration) error {
					if c.early {
						return ctx.Err()
					}
					close(stop)
					<-ctx.Done()
					return ctx.Err()
				}}}
			ctx := t.Context()
			if c.tidying {
				ctx = tidying(ctx)
			}
			resp, err := rt.RoundTrip(get(t, ctx))
			status := 0
			if err == nil {
				status = resp.StatusCode
				resp.Body.Close()
			}
			if errors.Is(err, context.Canceled) {
				t.Errorf("error %v: the call was not cancelled", err)
			}
			if status != c.status || len(next.bodies) != c.sent {
				t.Errorf("status %d after %d attempts, error %v; want %d after %d", status, len(next.bodies), err, c.status, c.sent)
			}
		})
	}
}

// The loops around creates wait by the same rule.
func TestAStopEndsTheWaitingForALostCreate(t *testing.T) {
	stop := make(chan struct{})
	close(stop)
	d := &Driver{http: &transport{stop: stop, clock: hasty()}}
	made := 0
	gone := &fault{status: 503, retryAfter: time.Hour}
	_, _, err := create(t.Context(), d, func() (int, bool, error) { return 0, false, nil }, func() (int, error) { made++; return 0, gone })
	if made != 1 || !errors.Is(err, gone) {
		t.Errorf("made %d times, error %v; want once, and its error", made, err)
	}
}

func TestTheRealClockWakesUp(t *testing.T) {
	stop := make(chan struct{})
	rt := &transport{next: &scripted{statuses: []int{503}, after: "30"}, log: slog.New(slog.DiscardHandler), stop: stop, clock: Clock{}.complete()}
	began := time.Now()
	time.AfterFunc(20*time.Millisecond, func() { close(stop) })
	resp, err := rt.RoundTrip(get(t, t.Context()))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("woke up after %s", took)
	}
	ctx, cancel := context.WithCancel(t.Context())
	rt.stop, rt.next = nil, &scripted{statuses: []int{503}, after: "30"}
	time.AfterFunc(20*time.Millisecond, cancel)
	if _, err := rt.RoundTrip(get(t, ctx)); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want the cancellation", err)
	}
}
