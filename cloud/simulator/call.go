package simulator

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// Call is one API call that the server has seen.
type Call struct {
	N       int    // its number without Keystone's calls, from 1; 0 for a call to Keystone
	Method  string // GET, POST, …
	Path    string // below the service: /v2.0/ports/6b4a…
	Pattern string // the path with IDs as {id}
	Query   string
	Status  int    // of the answer; 0 where the connection was closed without one
	Fault   Action // what was done to it on purpose
}

// Keystone tells whether the call went to Keystone.
func (c Call) Keystone() bool { return c.N == 0 }

// Write tells whether the call changes something in Neutron or Nova.
func (c Call) Write() bool { return !c.Keystone() && c.Method != http.MethodGet }

// Tally counts calls: reads and writes without Keystone's, and each method and pattern ("GET /v2.0/ports").
type Tally struct {
	Reads, Writes, Keystone int
	By                      map[string]int
}

// Count makes the tally of some calls.
func Count(calls []Call) Tally {
	t := Tally{By: map[string]int{}}
	for _, c := range calls {
		switch {
		case c.Keystone():
			t.Keystone++
		case c.Write():
			t.Writes++
		default:
			t.Reads++
		}
		t.By[c.Method+" "+c.Pattern]++
	}
	return t
}

// All keeps every call in the log.
const All = -1

// Calls returns the last calls since the start or the last Reset, in the order of their arrival: as many as
// Options.Keep says.
func (s *Server) Calls() []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := s.calls[s.expired():]
	out := make([]Call, len(last))
	for i, c := range last {
		out[i] = *c
	}
	return out
}

// Seen is how many calls there were since the start or the last Reset, Keystone's among them, those that the
// log has lost as well.
func (s *Server) Seen() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all
}

// log enters a call, and drops those that are too old, many at a time.
func (s *Server) log(c *Call) {
	s.calls = append(s.calls, c)
	if old := s.expired(); old > s.options.Keep {
		s.calls = slices.Clone(s.calls[old:])
	}
}

// expired is how many calls of the log are too old for it.
func (s *Server) expired() int {
	if s.options.Keep == All {
		return 0
	}
	return max(0, len(s.calls)-s.options.Keep)
}

// Reset begins anew with the first call: it empties the log, lets hidden objects be found again and, after a
// stop, lets calls through again. The state of the cloud stays.
func (s *Server) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls, s.n, s.all, s.stopped = nil, 0, 0, false
	s.hidden = map[string]int{}
	for _, r := range s.rules {
		r.seen = 0
	}
}

var idPattern = regexp.MustCompile(`^([0-9a-f]{32}|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})$`)

// collections are the segments of a path that are followed by what names a single object.
var collections = map[string]bool{"networks": true, "subnets": true, "routers": true, "ports": true, "floatingips": true,
	"security-groups": true, "security-group-rules": true, "rbac-policies": true, "quotas": true, "extensions": true, "tags": true,
	"servers": true, "os-interface": true, "projects": true, "users": true, "application_credentials": true}

// pattern replaces what names a single object in a path by {id}.
func pattern(path []string) string {
	out := make([]string, len(path))
	for i, s := range path {
		out[i] = s
		if i > 0 && collections[path[i-1]] && s != "detail" {
			out[i] = "{id}"
		}
	}
	return "/" + strings.Join(out, "/")
}
