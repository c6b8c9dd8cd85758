package wire

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Request is one API call.
type Request struct {
	Method string
	Base   string     // scheme and host the client used: http://127.0.0.1:5000
	Path   []string   // segments below the service's root, each of them unescaped; "v2.0", "ports", …
	Raw    string     // the path below the service's root as it was sent
	URI    int        // length of the whole request URI in bytes
	Query  url.Values // parsed, never nil
	Header http.Header
	Body   []byte
	Now    time.Time // the server's clock at the start of the call
	ID     string    // the request's ID, as answered in X-Openstack-Request-Id

	Hidden func(id string) bool // objects that this call does not find, though they exist; never nil
	Race   bool                 // the call came at the same moment as another: checks that real services lose then don't hold
	Made   []string             // IDs of the objects that the call has made, filled in by the service
}

// Segment returns the i-th segment of the path, "" where there is none.
func (r *Request) Segment(i int) string {
	if i < len(r.Path) {
		return r.Path[i]
	}
	return ""
}

// Split turns the escaped path below a service's root into its segments. A segment may hold a slash that came
// as %2F; a trailing slash adds no segment.
func Split(escaped string) []string {
	var out []string
	for _, s := range strings.Split(strings.Trim(escaped, "/"), "/") {
		if u, err := url.PathUnescape(s); err == nil {
			s = u
		}
		out = append(out, s)
	}
	return out
}

// Answer is what a service says to a request.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// JSON answers with v encoded. v comes from a service's own types, which always encode.
func JSON(status int, v any) *Answer {
	b, err := json.Marshal(v)
	if err != nil {
		return &Answer{Status: http.StatusInternalServerError, Body: []byte(err.Error())}
	}
	return Bytes(status, b)
}

// Bytes answers with a JSON text that is encoded already.
func Bytes(status int, body []byte) *Answer {
	h := http.Header{"Content-Type": {"application/json"}}
	return &Answer{Status: status, Header: h, Body: body}
}

// Empty answers without a body.
func Empty(status int) *Answer {
	return &Answer{Status: status, Header: http.Header{}}
}
