package main

import (
	"net/http"
	"sync"
)

// front answers for a controller before there is one: it is alive, and not ready.
type front struct {
	mu      sync.Mutex
	handler http.Handler
	why     string // there is no controller yet
}

// show hands over to a controller.
func (f *front) show(h http.Handler) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.handler = h
}

// wait says what is waited for.
func (f *front) wait(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.why = err.Error()
}

func (f *front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	handler, why := f.handler, f.why
	f.mu.Unlock()
	switch {
	case handler != nil:
		handler.ServeHTTP(w, r)
	case r.URL.Path == "/healthz":
		_, _ = w.Write([]byte("ok\n"))
	default:
		http.Error(w, "starting "+why, http.StatusServiceUnavailable)
	}
}
