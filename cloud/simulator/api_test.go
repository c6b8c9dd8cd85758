package simulator_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/vpnctl/vpnctl/cloud/simulator"
)

// api makes calls without a client library.
type api struct {
	t      testing.TB
	http   http.Client
	token  string
	header http.Header // sent with every call
}

// reply is an answer.
type reply struct {
	status int
	header http.Header
	body   map[string]any
	raw    string
	err    error // of the connection
}

func (r reply) errorType() string {
	e, _ := r.body["NeutronError"].(map[string]any)
	typ, _ := e["type"].(string)
	return typ
}

// list returns the objects of a list answer.
func (r reply) list(key string) []map[string]any {
	var out []map[string]any
	items, _ := r.body[key].([]any)
	for _, x := range items {
		out = append(out, x.(map[string]any))
	}
	return out
}

// one returns the object of an answer about one.
func (r reply) one(key string) map[string]any {
	o, _ := r.body[key].(map[string]any)
	return o
}

func (r reply) id(key string) string {
	id, _ := r.one(key)["id"].(string)
	return id
}

// request makes a GET to Neutron.
func request(t testing.TB, a *api, path string) *http.Request {
	req, err := http.NewRequest("GET", base+"/network/v2.0"+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Auth-Token", a.token)
	return req
}

func connect(t testing.TB, s *simulator.Server, cloud string) *api {
	t.Helper()
	cred, err := s.Credentials(base, cloud)
	if err != nil {
		t.Fatal(err)
	}
	a := &api{t: t, http: http.Client{Transport: simulator.Transport(s)}, header: http.Header{}}
	r := a.do("POST", "/identity/v3/auth/tokens", fmt.Sprintf(`{"auth": {"identity": {"methods": ["application_credential"],
		"application_credential": {"id": %q, "secret": %q}}}}`, cred.CredentialID, cred.Secret))
	if r.status != http.StatusCreated {
		t.Fatalf("login: %d %s", r.status, r.raw)
	}
	a.token = r.header.Get("X-Subject-Token")
	return a
}

// do makes a call; the path begins with the service: /network/v2.0/ports.
func (a *api) do(method, path, body string) reply {
	a.t.Helper()
	req, err := http.NewRequest(method, base+path, strings.NewReader(body))
	if err != nil {
		a.t.Fatal(err)
	}
	req.Header = a.header.Clone()
	req.Header.Set("X-Auth-Token", a.token)
	res, err := a.http.Do(req)
	if err != nil {
		return reply{err: err}
	}
	raw, err := io.ReadAll(res.Body)
	if cerr := res.Body.Close(); cerr != nil {
		a.t.Fatal(cerr)
	}
	r := reply{status: res.StatusCode, header: res.Header, raw: string(raw), err: err}
	if len(raw) > 0 && err == nil {
		if err := json.Unmarshal(raw, &r.body); err != nil {
			a.t.Fatalf("%s %s: %v in %s", method, path, err, raw)
		}
	}
	return r
}

// net makes a call to Neutron and expects the status.
func (a *api) net(method, path, body string, status int) reply {
	a.t.Helper()
	r := a.do(method, "/network/v2.0"+path, body)
	if r.err != nil || r.status != status {
		a.t.Fatalf("%s %s: %d %s (%v), want %d", method, path, r.status, r.raw, r.err, status)
	}
	return r
}

// network is the ID of the network of that name.
func (a *api) network(name string) string {
	a.t.Helper()
	return a.net("GET", "/networks?name="+name, "", 200).list("networks")[0]["id"].(string)
}

// port makes a port on a network; more is further attributes, such as `, "name": "a"`.
func (a *api) port(network, more string) reply {
	a.t.Helper()
	return a.net("POST", "/ports", fmt.Sprintf(`{"port": {"network_id": %q%s}}`, network, more), 201)
}
