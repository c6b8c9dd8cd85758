package simulator

import (
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/vpnctl/vpnctl/cloud/simulator/internal/keystone"
	"github.com/vpnctl/vpnctl/cloud/simulator/internal/neutron"
	"github.com/vpnctl/vpnctl/cloud/simulator/internal/nova"
	"github.com/vpnctl/vpnctl/cloud/simulator/internal/store"
	"github.com/vpnctl/vpnctl/cloud/simulator/internal/wire"
)

// Options say what cloud to simulate.
type Options struct {
	// Dir keeps the state; "" keeps it in memory. Several processes may use one directory, one after
	// another or at the same time.
	Dir string
	// Seed is what an empty state starts with.
	Seed Seed
	// Faults is a fault script; nil is none. The package comment describes it.
	Faults io.Reader
	// Intercept decides about single calls in tests: n is the call's number (0 for a call to Keystone). It
	// comes after Faults, and nil is none.
	Intercept func(n int, r *http.Request) Fault
	// Clock drives the Date header, created_at, token expiry and what happens later; nil is time.Now.
	Clock func() time.Time
	// DetachDelay and StatusDelay say how long after the answer a port leaves its server, and a floating
	// IP's status follows its association. 0 needs no time: one read still sees the old state, the next one
	// the new.
	DetachDelay, StatusDelay time.Duration
	// TokenLife is how long a token is good for; 0 is 12 hours.
	TokenLife time.Duration
	// RouteLimit and PairLimit are the most routes of a router (0 is 30) and allowed address pairs of a
	// port (0 is 10).
	RouteLimit, PairLimit int
	// Quota replaces default limits of a project by resource (port, floatingip, security_group, …).
	Quota map[string]int
	// Keep is how many of the last calls Calls returns: 0 is 1,000, All is every one.
	Keep int
	// Log gets a line for each call; nil is none.
	Log *slog.Logger
}

// Server is the simulated cloud, an http.Handler. It is safe for use by many goroutines.
type Server struct {
	options  Options
	db       *store.DB
	services map[string]func(*wire.Request) *wire.Answer
	rules    []*rule

	mu      sync.Mutex // guards what follows
	calls   []*Call
	n, all  int
	stopped bool
	hidden  map[string]int // object ID -> reads that will not find it
}

// New makes a server on the state in o.Dir, or on a fresh one.
func New(o Options) (*Server, error) {
	db, err := store.Open(o.Dir)
	if err != nil {
		return nil, err
	}
	return serve(o, db)
}

// Copy makes a server in memory on a copy of this one's state. Its options are its own, its calls are
// counted from 1; Dir and Seed mean nothing.
func (s *Server) Copy(o Options) (*Server, error) {
	db, err := s.db.Copy()
	if err != nil {
		return nil, err
	}
	o.Dir, o.Seed = "", s.options.Seed
	return serve(o, db)
}

func serve(o Options, db *store.DB) (*Server, error) {
	rules, err := parseFaults(o.Faults)
	if err != nil {
		return nil, err
	}
	o = o.complete()
	s := &Server{options: o, db: db, rules: rules, hidden: map[string]int{}}
	k := &keystone.Service{DB: db, Region: o.Seed.Region, TokenLife: o.TokenLife}
	n := neutron.New(neutron.Service{DB: db, RouteLimit: o.RouteLimit, PairLimit: o.PairLimit, Quota: o.Quota,
		Later: neutron.Later{Detach: o.DetachDelay, Status: o.StatusDelay}})
	c := &nova.Service{DB: db, Neutron: n}
	s.services = map[string]func(*wire.Request) *wire.Answer{"identity": k.Serve, "network": n.Serve, "compute": c.Serve}
	if err := db.Do(func() error { return o.Seed.plant(db, o.Clock()) }); err != nil {
		return nil, fmt.Errorf("seeding the simulator: %w", err)
	}
	return s, nil
}

func (o Options) complete() Options {
	o.Seed = o.Seed.complete()
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.TokenLife == 0 {
		o.TokenLife = 12 * time.Hour
	}
	if o.RouteLimit == 0 {
		o.RouteLimit = 30
	}
	if o.PairLimit == 0 {
		o.PairLimit = 10
	}
	if o.Keep == 0 {
		o.Keep = 1000
	}
	quota := neutron.DefaultQuota()
	maps.Copy(quota, o.Quota)
	o.Quota = quota
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

// Close writes the state to its directory as one file and lets go of it. In memory there is nothing to do.
func (s *Server) Close() error { return s.db.Close() }

// maxBody is the largest request body that is read, in bytes.
const maxBody = 16 << 20

// ServeHTTP answers one API call. A connection that shall be closed without an answer ends in
// panic(http.ErrAbortHandler), which net/http takes for just that.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		http.Error(w, "reading the request: "+err.Error(), http.StatusRequestEntityTooLarge)
		return
	}
	service, below, _ := strings.Cut(strings.TrimPrefix(r.URL.EscapedPath(), "/"), "/")
	serve, ok := s.services[service]
	if !ok {
		http.Error(w, "the services stand below /identity, /network and /compute", http.StatusNotFound)
		return
	}
	req := s.request(r, below, body)
	call, fault := s.arrive(r, service, req)
	a := s.perform(r, serve, req, service, call, fault)
	send(w, a, req, fault.Do)
}

func (s *Server) request(r *http.Request, below string, body []byte) *wire.Request {
	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}
	return &wire.Request{
		Method: r.Method, Base: scheme + "://" + r.Host, Path: wire.Split(below), Raw: "/" + below,
		URI: len(r.URL.RequestURI()), Query: r.URL.Query(), Header: r.Header, Body: body, Now: s.options.Clock(),
		Hidden: func(string) bool { return false },
	}
}

// send writes the answer, or as much of it as the fault lets through.
func send(w http.ResponseWriter, a *wire.Answer, req *wire.Request, do Action) {
	maps.Copy(w.Header(), a.Header)
	w.Header().Set("X-Openstack-Request-Id", req.ID)
	w.Header().Set("Date", req.Now.UTC().Format(http.TimeFormat))
	w.Header().Set("Content-Length", fmt.Sprint(len(a.Body)))
	if a.Status == http.StatusNoContent {
		w.Header().Del("Content-Length")
	}
	w.WriteHeader(a.Status)
	if do == Cut {
		_, _ = w.Write(a.Body[:len(a.Body)/2]) // the connection is closed next, whatever became of this
		panic(http.ErrAbortHandler)
	}
	_, _ = w.Write(a.Body) // a client that has gone away is no business of the cloud's
}
