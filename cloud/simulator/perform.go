package simulator

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/vpnctl/vpnctl/cloud/simulator/internal/neutron"
	"github.com/vpnctl/vpnctl/cloud/simulator/internal/store"
	"github.com/vpnctl/vpnctl/cloud/simulator/internal/wire"
)

// arrive counts and logs a call, and finds what shall happen to it. After a stop it ends the connection.
func (s *Server) arrive(r *http.Request, service string, req *wire.Request) (*Call, Fault) {
	s.mu.Lock()
	s.all++
	e := event{all: s.all, method: r.Method, pattern: pattern(req.Path), keystone: service == "identity"}
	if !e.keystone {
		s.n++
		e.n = s.n
	}
	req.ID = "req-" + store.StableID(fmt.Sprintf("request %d", s.all))
	c := &Call{N: e.n, Method: r.Method, Path: req.Raw, Pattern: e.pattern, Query: r.URL.RawQuery}
	s.log(c)
	stopped := s.stopped
	var hit Fault
	for _, f := range s.rules {
		if !f.hits(e) {
			continue
		}
		switch next := f.fault(); {
		case next.Do == Delay:
			hit.Wait += next.Wait
		case hit.Do == None:
			next.Wait += hit.Wait
			hit = next
		}
	}
	s.mu.Unlock()
	if stopped {
		panic(http.ErrAbortHandler)
	}
	if hit.Do == None && s.options.Intercept != nil {
		wait := hit.Wait
		hit = s.options.Intercept(e.n, r)
		hit.Wait += wait
	}
	s.mu.Lock()
	c.Fault = hit.Do
	if hit.Do == None && hit.Wait > 0 {
		c.Fault = Delay
	}
	s.mu.Unlock()
	return c, hit
}

// perform has the service do the call as far as the fault lets it, and logs how it ended.
func (s *Server) perform(r *http.Request, serve func(*wire.Request) *wire.Answer, req *wire.Request, service string, c *Call, f Fault) *wire.Answer {
	if f.Wait > 0 {
		select {
		case <-time.After(f.Wait):
		case <-r.Context().Done():
			panic(http.ErrAbortHandler) // the client has given up before anything was done
		}
	}
	var a *wire.Answer
	switch f.Do {
	case Fail, Throttle:
		a = refuse(service, req, f)
	default:
		req.Race = f.Do == Race
		a = s.do(serve, req, service)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if f.Do == Hide {
		for _, id := range req.Made {
			s.hidden[id] = max(f.Reads, 1)
		}
	}
	s.stopped = s.stopped || f.Do == Stop
	if f.Do == Drop {
		panic(http.ErrAbortHandler)
	}
	c.Status = a.Status
	s.options.Log.Debug("call", "n", c.N, "method", c.Method, "path", c.Path, "query", c.Query, "status", c.Status, "fault", string(c.Fault))
	return a
}

// do runs the call in a transaction, after what has become due by itself.
func (s *Server) do(serve func(*wire.Request) *wire.Answer, req *wire.Request, service string) (a *wire.Answer) {
	missed := map[string]bool{}
	if req.Method == http.MethodGet {
		req.Hidden = func(id string) bool {
			s.mu.Lock()
			defer s.mu.Unlock()
			missed[id] = missed[id] || s.hidden[id] > 0
			return missed[id]
		}
	}
	err := s.db.Do(func() error {
		if now := s.options.Clock(); now.After(req.Now) { // what waited is done now, in the order of its times
			req.Now = now
		}
		neutron.Settle(s.db, req.Now, func(kind, id string) bool { return s.sees(service, req, kind, id) })
		a = serve(req)
		return nil
	})
	if err != nil { // the state could not be read or written
		e := wire.Fail(http.StatusInternalServerError, "HTTPInternalServerError", "%v", err)
		a = inForm(service, e)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, yes := range missed {
		if yes {
			s.hidden[id]--
		}
	}
	return a
}

// sees tells whether the call reads the object that something is pending for: itself, or the list it is in.
func (s *Server) sees(service string, req *wire.Request, kind, id string) bool {
	if req.Method != http.MethodGet {
		return false
	}
	collection := map[string]string{store.PendingDetach: "ports", store.PendingStatus: "floatingips"}[kind]
	switch service {
	case "network":
		return req.Segment(1) == collection && (req.Segment(2) == "" || req.Segment(2) == id)
	case "compute":
		p, ok := s.db.Ports.Get(id)
		return ok && kind == store.PendingDetach && req.Segment(2) == p.DeviceID
	}
	return false
}

// refuse is the answer of a call that is not done.
func refuse(service string, req *wire.Request, f Fault) *wire.Answer {
	status, typ, message := f.Status, f.Type, f.Message
	switch {
	case status == 0 && f.Do == Throttle:
		status = http.StatusTooManyRequests
	case status == 0:
		status = http.StatusInternalServerError
	}
	if status == http.StatusUnauthorized {
		return wire.Unauthorized(req.Base + "/identity/v3")
	}
	if typ == "" {
		typ = "HTTP" + strings.ReplaceAll(http.StatusText(status), " ", "")
	}
	if message == "" {
		message = http.StatusText(status)
	}
	a := inForm(service, wire.Fail(status, typ, "%s", message))
	if f.Do == Throttle {
		a.Header.Set("Retry-After", strconv.Itoa(f.RetryAfter))
	}
	return a
}

// inForm writes an error as the service does.
func inForm(service string, e *wire.Error) *wire.Answer {
	switch service {
	case "network":
		return e.Neutron()
	case "compute":
		return e.Nova()
	}
	return e.Keystone()
}
