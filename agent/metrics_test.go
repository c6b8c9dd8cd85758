package agent

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// metrics is a scrape.
func (r *rig) metrics() string {
	r.Helper()
	w := httptest.NewRecorder()
	r.loop.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if w.Code != http.StatusOK {
		r.Fatalf("the scrape: %d %s", w.Code, w.Body)
	}
	return w.Body.String()
}

// series are the lines of a scrape that begin like this.
func (r *rig) series(begin string) []string {
	r.Helper()
	var all []string
	for line := range strings.Lines(r.metrics()) {
		if strings.HasPrefix(line, begin) {
			all = append(all, strings.TrimSpace(line))
		}
	}
	return all
}

func TestProbes(t *testing.T) {
	r := newRig(t)
	get := func(path string) int {
		w := httptest.NewRecorder()
		r.loop.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		return w.Code
	}
	expect := func(when string, health, ready int) {
		t.Helper()
		if h, d := get("/healthz"), get("/readyz"); h != health || d != ready {
			t.Errorf("%s: /healthz %d, /readyz %d, want %d, %d", when, h, d, health, ready)
		}
	}
	expect("at the start", 200, 503)
	r.tick()
	expect("without files", 200, 503)
	r.peer("ina")
	r.tick()
	expect("with files and charon", 200, 200)
	r.charon.Kill()
	r.tick()
	expect("without charon", 200, 503)
	r.now = r.now.Add(2 * r.loop.Stuck)
	expect("stuck", 503, 503)
}
