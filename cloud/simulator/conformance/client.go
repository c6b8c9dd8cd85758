package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// An object is a JSON object, sent or received.
type object map[string]any

func (o object) text(name string) string { s, _ := o[name].(string); return s }
func (o object) id() string              { return o.text("id") }
func (o object) revision() int           { n, _ := o["revision_number"].(float64); return int(n) }

func (o object) object(name string) object {
	m, _ := o[name].(map[string]any)
	return m
}

func (o object) list(name string) []object {
	items, _ := o[name].([]any)
	var list []object
	for _, item := range items {
		m, _ := item.(map[string]any)
		list = append(list, m)
	}
	return list
}

func (o object) texts(name string) []string {
	items, _ := o[name].([]any)
	list := []string{}
	for _, item := range items {
		s, _ := item.(string)
		list = append(list, s)
	}
	return list
}

// An answer is what came back for one call.
type answer struct {
	call   string
	status int
	header http.Header
	raw    []byte
}

func (a answer) body() object {
	var o object
	_ = json.Unmarshal(a.raw, &o) // an answer may have no body, or one that isn't JSON
	return o
}

// errorType is what Neutron calls its error.
func (a answer) errorType() string { return a.body().object("NeutronError").text("type") }

func (a answer) String() string {
	return fmt.Sprintf("%s: %d %.600s", a.call, a.status, a.raw)
}

// A client is one user, logged in.
type client struct {
	http      *http.Client
	token     string
	project   string
	user      string
	endpoints map[string]string // by service type
}

// login exchanges a credential for a token.
func login(authURL string, c Credential) (*client, error) {
	return enter(authURL, byApplicationCredential(c))
}

// enter logs in by what stands below auth.
func enter(authURL string, auth object) (*client, error) {
	k := &client{
		http:      &http.Client{Timeout: 2 * time.Minute, Transport: &http.Transport{MaxIdleConnsPerHost: 8}},
		endpoints: map[string]string{"identity": strings.TrimRight(authURL, "/")},
	}
	a, err := k.call("POST", "identity", "/auth/tokens", object{"auth": auth})
	if err != nil {
		return nil, err
	}
	if a.status != http.StatusCreated {
		return nil, fmt.Errorf("logging in: %s", a)
	}
	token := a.body().object("token")
	k.token = a.header.Get("X-Subject-Token")
	k.project = token.object("project").id()
	k.user = token.object("user").id()
	for _, service := range token.list("catalog") {
		for _, endpoint := range service.list("endpoints") {
			if endpoint.text("interface") == "public" {
				k.endpoints[service.text("type")] = strings.TrimRight(endpoint.text("url"), "/")
			}
		}
	}
	if n, ok := k.endpoints["network"]; ok && !strings.HasSuffix(n, "/v2.0") {
		k.endpoints["network"] = n + "/v2.0"
	}
	return k, nil
}

func byApplicationCredential(c Credential) object {
	return object{"identity": object{
		"methods":                []string{"application_credential"},
		"application_credential": object{"id": c.ID, "secret": c.Secret},
	}}
}

// byPassword asks for a token for a project, or explicitly for none where that has no name.
func byPassword(p Password) object {
	domain := object{"id": "default"}
	auth := object{"scope": "unscoped", "identity": object{
		"methods":  []string{"password"},
		"password": object{"user": object{"name": p.User, "domain": domain, "password": p.Word}},
	}}
	if p.Project != "" {
		auth["scope"] = object{"project": object{"name": p.Project, "domain": domain}}
	}
	return auth
}

// call sends one request. headers are names and values in turn.
func (k *client) call(method, service, path string, body any, headers ...string) (answer, error) {
	url, ok := k.endpoints[service]
	if !ok {
		return answer{}, fmt.Errorf("no endpoint for %s in the catalog", service)
	}
	if !strings.HasPrefix(path, "http") {
		path = url + path
	}
	req, err := http.NewRequest(method, path, encode(body))
	if err != nil {
		return answer{}, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	req.Header.Set("X-Auth-Token", k.token)
	req.Header.Set("OpenStack-API-Version", "compute 2.79")
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := k.http.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	return answer{method + " " + path, resp.StatusCode, resp.Header, raw}, err
}

// encode leaves text as it is, so that a test can send what isn't JSON.
func encode(body any) io.Reader {
	switch b := body.(type) {
	case nil:
		return nil
	case string:
		return strings.NewReader(b)
	}
	raw, err := json.Marshal(body)
	if err != nil {
		panic(err) // only tests' own literals come here
	}
	return bytes.NewReader(raw)
}
