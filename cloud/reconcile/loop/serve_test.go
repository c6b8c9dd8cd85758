package loop_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/vpnctl/vpnctl/cloud/reconcile/board"
	"github.com/vpnctl/vpnctl/cloud/reconcile/loop"
)

// get is what a controller serves.
func get(t *testing.T, c *loop.Controller, path string) string {
	t.Helper()
	w := httptest.NewRecorder()
	c.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	if w.Code != http.StatusOK {
		t.Errorf("GET %s: %d %s", path, w.Code, w.Body)
	}
	return w.Body.String()
}

func code(c *loop.Controller, method, path string) int {
	w := httptest.NewRecorder()
	c.Handler().ServeHTTP(w, httptest.NewRequest(method, path, nil))
	return w.Code
}

// TestProbes: who stands by is healthy and ready; who leads is ready once it has looked,
// healthy while its loop turns, whatever it can't get done, and not when it hangs.
func TestProbes(t *testing.T) {
	bubble(t, func(t *testing.T, f *field) {
		c := f.controller()
		want := func(when string, health, ready int) {
			t.Helper()
			if h, r := code(c, http.MethodGet, "/healthz"), code(c, http.MethodGet, "/readyz"); h != health || r != ready {
				t.Errorf("%s: health %d, ready %d; want %d, %d", when, h, r, health, ready)
			}
		}
		want("standing by", 200, 200)
		hang := make(chan struct{})
		f.fails(func(string, bool) error { return errGone })
		f.running(c, func() {
			time.Sleep(time.Hour)
			want("without a cluster for an hour", 200, 503)
			f.fails(nil)
			time.Sleep(2 * time.Minute)
			want("at work", 200, 200)
			f.fails(func(string, bool) error {
				f.cluster.mu.Unlock()
				<-hang
				f.cluster.mu.Lock()
				return errors.New("late")
			})
			time.Sleep(time.Hour)
			want("hanging", 503, 200)
			f.fails(nil)
			close(hang)
			time.Sleep(2 * time.Minute)
			want("at work again", 200, 200)
		})
		want("standing by again", 200, 200)
	})
}

// TestThePageIsHarmless: nothing that people write gets out of its place on the page,
// nothing can be written through it, and it asks nobody anything.
func TestThePageIsHarmless(t *testing.T) {
	bubble(t, func(t *testing.T, f *field) {
		m := manifestsOf(t, "acme/dc1")
		bad, err := json.Marshal(`<script>alert(1)</script>"'` + "`")
		if err != nil {
			t.Fatal(err)
		}
		m[1] = edited(t, m[1], `"gatewayRef":`, `"unknown":`+string(bad)+`,"gatewayRef":`)
		f.write(m...)
		c := f.controller()
		c.Round(t.Context())
		f.Sim.Reset()
		calls := f.called()
		for _, path := range []string{"/", "/metrics", "/healthz", "/readyz"} {
			text := get(t, c, path)
			if strings.Contains(text, "<script") {
				t.Errorf("%s holds what a manifest says as it is:\n%s", path, text)
			}
			for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete} {
				if got := code(c, method, path); got != http.StatusMethodNotAllowed && path != "/metrics" {
					t.Errorf("%s %s: %d", method, path, got)
				}
			}
		}
		if n := len(f.Sim.Calls()); n > 0 || f.called() != calls {
			t.Errorf("showing it made %d calls to the cloud and %d to the cluster", n, f.called()-calls)
		}
		if got := code(c, http.MethodGet, "/anything"); got != http.StatusNotFound {
			t.Errorf("another path: %d", got)
		}
	})
}

// TestMetrics names what alerts are written for.
func TestMetrics(t *testing.T) {
	bubble(t, func(t *testing.T, f *field) {
		f.everyone()
		c := f.controller()
		f.running(c, func() {
			time.Sleep(10 * time.Second)
			text := get(t, c, "/metrics")
			for _, line := range []string{
				`vpnctl_reconcile_leader 1`,
				`vpnctl_reconcile_gateways{ready="true"} 3`,
				`vpnctl_reconcile_gateways{ready="false"} 0`,
				`vpnctl_reconcile_pending_changes 0`,
				`vpnctl_reconcile_estate_valid 1`,
				`vpnctl_reconcile_changes_total{action="create",result="done"}`,
				`vpnctl_reconcile_round_seconds_count`,
				`vpnctl_reconcile_cloud_calls_total`,
				`vpnctl_reconcile_last_success_timestamp_seconds`,
				`ipsec_operator_servicecidr_allocated_ratio 0.01171875`, // 3 of 256
			} {
				if !strings.Contains(text, "\n"+line) {
					t.Errorf("no %s in:\n%s", line, text)
				}
			}
		})
		if text := get(t, c, "/metrics"); strings.Contains(text, "vpnctl_reconcile_gateways{") || !strings.Contains(text, "vpnctl_reconcile_leader 0") {
			t.Error("who doesn't lead shows the gateways as it last knew them")
		}
	})
}

// TestStandingBy: who waits for another one to go is ready and says who that is; who can
// never lead as things are is not ready, on the page and in the log as well.
func TestStandingBy(t *testing.T) {
	bubble(t, func(t *testing.T, f *field) {
		c := f.controller()
		var log bytes.Buffer
		c.Log = slog.New(slog.NewTextHandler(&log, nil))
		by := board.Standby{Estate: "acme", Lease: "vpn/vpnctl-reconcile-acme"}
		c.StandBy(by)
		if page := get(t, c, "/"); !strings.Contains(page, "stands by: no leader is known yet") || strings.Contains(page, "runs the rounds") {
			t.Errorf("the page while nobody is known to lead:\n%s", page)
		}
		by.Leader = "someone@there"
		c.StandBy(by)
		if page := get(t, c, "/"); !strings.Contains(page, "estate acme") || !strings.Contains(page, "someone@there runs the rounds") || !strings.Contains(page, by.Lease) {
			t.Errorf("the page of one that stands by:\n%s", page)
		}
		get(t, c, "/readyz")
		by.Leader, by.Err = "", errors.New(`namespaces "vpm" not found`)
		c.StandBy(by)
		c.StandBy(by)
		if page := get(t, c, "/"); !strings.Contains(page, "can't lead") || !strings.Contains(page, "vpm") || strings.Contains(page, "stands by") {
			t.Errorf("the page of one that can't lead:\n%s", page)
		}
		if got := code(c, http.MethodGet, "/readyz"); got != http.StatusServiceUnavailable {
			t.Errorf("ready although it can't lead: %d", got)
		}
		get(t, c, "/healthz")
		if n := strings.Count(log.String(), "vpm"); n != 1 {
			t.Errorf("%d times in the log:\n%s", n, log.String())
		}
		by.Err = nil
		c.StandBy(by)
		get(t, c, "/readyz")
	})
}
