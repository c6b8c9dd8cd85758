package reconcile_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/vpnctl/vpnctl/cloud/simulator"
)

// client is another user of the operator's project.
type client struct {
	*world
	token string
}

const simulated = "http://simulator.invalid"

func newClient(w *world) client { return clientAs(w, "operator") }

// clientAs is one who logs in so.
func clientAs(w *world, login string) client {
	w.t.Helper()
	c, err := w.sim.Credentials(simulated, login)
	if err != nil {
		w.t.Fatal(err)
	}
	body := fmt.Sprintf(`{"auth": {"identity": {"methods": ["application_credential"], "application_credential": {"id": %q, "secret": %q}}}}`, c.CredentialID, c.Secret)
	answer := client{world: w}.send(http.MethodPost, c.AuthURL+"/auth/tokens", []byte(body))
	defer answer.Body.Close()
	return client{w, answer.Header.Get("X-Subject-Token")}
}

func (c client) post(path, key string, body map[string]any) string {
	c.t.Helper()
	answer := c.call(http.MethodPost, path, map[string]any{key: body})
	return answer[key].(map[string]any)["id"].(string)
}

func (c client) put(path string, body map[string]any) {
	c.t.Helper()
	c.call(http.MethodPut, path, body)
}

func (c client) call(method, path string, body any) map[string]any {
	c.t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		c.t.Fatal(err)
	}
	answer := c.send(method, simulated+"/network/v2.0/"+path, text)
	defer answer.Body.Close()
	var decoded map[string]any
	if err := json.NewDecoder(answer.Body).Decode(&decoded); err != nil {
		c.t.Fatal(err)
	}
	return decoded
}

func (c client) send(method, url string, body []byte) *http.Response {
	c.t.Helper()
	r, err := http.NewRequestWithContext(c.t.Context(), method, url, bytes.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Auth-Token", c.token)
	answer, err := simulator.Transport(c.sim).RoundTrip(r)
	if err != nil {
		c.t.Fatal(err)
	}
	if answer.StatusCode >= http.StatusBadRequest {
		c.t.Fatalf("%s %s: %s", method, url, answer.Status)
	}
	return answer
}
