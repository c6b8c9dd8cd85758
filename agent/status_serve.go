package agent

import (
	"fmt"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Handler serves the metrics and the probes, before, during and after Run. It must not
// be called while Run begins.
//
//	/metrics  see Metrics
//	/healthz  200 while the loop is at work. Whether charon is doesn't matter: it has a
//	          probe of its own, and restarting this container wouldn't cure it.
//	/readyz   200 while the mounted files could be read, and the data plane shows what it
//	          does: charon answers, or for WireGuard dataplane.json is fresh.
func (l *StatusLoop) Handler() http.Handler {
	l.prepare()
	registry := prometheus.NewRegistry()
	registry.MustRegister(
		Metrics{l}, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { answer(w, l.healthy()) })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) { answer(w, l.ready()) })
	return mux
}

func answer(w http.ResponseWriter, err error) {
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	fmt.Fprintln(w, "ok")
}

func (l *StatusLoop) healthy() error {
	return l.pulse.check(l.Now(), l.Stuck)
}

func (l *StatusLoop) ready() error {
	switch s := l.shown.Load(); {
	case s == nil || s.gateway.IsZero():
		return fmt.Errorf("the configuration in %s could not be read yet", l.Config.Dir)
	case !s.answers && s.ipsec:
		return fmt.Errorf("charon doesn't answer on %s", l.Socket)
	case !s.answers:
		return fmt.Errorf("the data plane has published nothing lately in %s", l.Volume.Dir)
	}
	return nil
}
