//go:build e2e

package lab

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// A Mark is a place in the API server's audit log.
type Mark int64

// A Request is one that the API server answered. Requests among the parts of the
// control plane, and of kwok, are in no log.
type Request struct {
	User, Agent string
	Verb        string
	URI         string
	Group       string
	Resource    string // with its subresource, as ipsecgateways/status
	Namespace   string
	Name        string // empty for a collection, and where the server chose it
	Code        int    // of the answer
	Time        time.Time
}

func (r Request) String() string {
	return fmt.Sprintf("%s %s: %d (%s, %s)", r.Verb, r.URI, r.Code, r.User, r.Agent)
}

// Stored reports whether the request may have changed what the server stores: one
// that was refused hasn't, nor a dry run, nor a question about rights.
func (r Request) Stored() bool {
	if !slices.Contains([]string{"create", "update", "patch", "delete", "deletecollection"}, r.Verb) || r.Code >= 300 {
		return false
	}
	if r.Group == "authorization.k8s.io" || r.Group == "authentication.k8s.io" {
		return false
	}
	at, err := url.ParseRequestURI(r.URI)
	return err != nil || at.Query().Get("dryRun") != "All"
}

// Mark gives the present end of the audit log.
func (l *Lab) Mark(t testing.TB) Mark {
	t.Helper()
	l.flush(t, 0)
	info, err := os.Stat(l.auditLog())
	if err != nil {
		t.Fatal(err)
	}
	return Mark(info.Size())
}

// Requests gives the requests that were answered after the mark, in order, by
// whoever sent them, but those of the lab itself.
func (l *Lab) Requests(t testing.TB, since Mark) []Request {
	t.Helper()
	l.flush(t, since)
	all, _ := l.read(t, since, "")
	return all
}

// Writes gives those of Requests that may have changed what the server stores.
func (l *Lab) Writes(t testing.TB, since Mark) []Request {
	t.Helper()
	return slices.DeleteFunc(l.Requests(t, since), func(r Request) bool { return !r.Stored() })
}

// flush waits until the log has all requests that were answered before: a last one
// is sent and looked for.
func (l *Lab) flush(t testing.TB, since Mark) {
	t.Helper()
	sign := fmt.Sprintf("mark=%d", time.Now().UnixNano())
	l.get(t, "/version?"+sign)
	Await(t, 30*time.Second, func(context.Context) string {
		if _, found := l.read(t, since, sign); !found {
			return "the audit log lags behind"
		}
		return ""
	})
}

func (l *Lab) auditLog() string { return filepath.Join(l.dir, "log", "audit.log") }

// event is what is read of an audit.k8s.io/v1 Event, one a line.
type event struct {
	Stage      string
	RequestURI string
	Verb       string
	User       struct{ Username string }
	UserAgent  string
	ObjectRef  struct{ APIGroup, Resource, Subresource, Namespace, Name string }

	ResponseStatus struct{ Code int }
	StageTimestamp time.Time
}

// read gives the requests since the mark, and whether the sign is in one's URI.
func (l *Lab) read(t testing.TB, since Mark, sign string) (all []Request, found bool) {
	t.Helper()
	file, err := os.Open(l.auditLog())
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.Seek(int64(since), io.SeekStart); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var e event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			break // the last line is being written
		}
		if sign != "" && strings.Contains(e.RequestURI, sign) {
			found = true
		}
		if e.Stage == "ResponseStarted" || e.UserAgent == "lab" {
			continue
		}
		all = append(all, e.request())
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return all, found
}

func (e event) request() Request {
	resource := e.ObjectRef.Resource
	if e.ObjectRef.Subresource != "" {
		resource += "/" + e.ObjectRef.Subresource
	}
	return Request{
		User: e.User.Username, Agent: e.UserAgent, Verb: e.Verb, URI: e.RequestURI,
		Group: e.ObjectRef.APIGroup, Resource: resource, Namespace: e.ObjectRef.Namespace, Name: e.ObjectRef.Name,
		Code: e.ResponseStatus.Code, Time: e.StageTimestamp,
	}
}
