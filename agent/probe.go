package agent

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"
)

// Handler serves the probes, before, during and after Run.
//
//	/healthz  200 while the loop is at work. What it can't get done is no reason to
//	          restart it: that is tried again anyway.
//	/readyz   200 while packets can pass: a ruleset is in force, the NIC is there, its
//	          routing in place, and for WireGuard the device is up.
func (l *DataplaneLoop) Handler() http.Handler {
	l.prepare()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { answer(w, l.healthy()) })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) { answer(w, l.ready()) })
	return mux
}

func (l *DataplaneLoop) healthy() error {
	return l.pulse.check(l.Now(), l.Stuck)
}

func (l *DataplaneLoop) ready() error {
	switch r := l.shown.Load(); {
	case r == nil || !r.known:
		return fmt.Errorf("agent.json in %s could not be read yet", l.Config.Dir)
	case !r.ruleset:
		return errors.New("no ruleset is in force")
	case !r.nic:
		return errors.New("the port's interface is missing")
	case !r.routing:
		return errors.New("policy routing is not in place")
	case r.wireguard && !r.device:
		return errors.New("the WireGuard device is not up")
	}
	return nil
}

// Serve answers on an address until ctx ends. It returns an error at once if it can't
// listen there.
func Serve(ctx context.Context, address string, h http.Handler) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("serving probes: %w", err)
	}
	server := serverOf(h, 30*time.Second)
	defer context.AfterFunc(ctx, func() { server.Close() })()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving probes: %w", err)
	}
	return nil
}

// serverOf bounds how long one caller may take: many that ask and then don't read would
// otherwise fill the container's memory with answers.
func serverOf(h http.Handler, patience time.Duration) *http.Server {
	return &http.Server{Handler: h, ReadHeaderTimeout: min(5*time.Second, patience), WriteTimeout: patience, IdleTimeout: time.Minute}
}
