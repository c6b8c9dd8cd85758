package world

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/vpnctl/vpnctl/cloud/simulator"
)

// Client is another user of the operator's project.
type Client struct {
	*World
	token string
}

const simulated = "http://simulator.invalid"

// NewClient is the operator himself, by hand.
func NewClient(w *World) Client { return ClientAs(w, "operator") }

// ClientAs is one who logs in so.
func ClientAs(w *World, login string) Client {
	w.T.Helper()
	c, err := w.Sim.Credentials(simulated, login)
	if err != nil {
		w.T.Fatal(err)
	}
	body := fmt.Sprintf(`{"auth": {"identity": {"methods": ["application_credential"], "application_credential": {"id": %q, "secret": %q}}}}`, c.CredentialID, c.Secret)
	answer := Client{World: w}.send(http.MethodPost, c.AuthURL+"/auth/tokens", []byte(body))
	defer answer.Body.Close()
	return Client{w, answer.Header.Get("X-Subject-Token")}
}

// Post makes an object of the network service, which wraps it in key, and returns its ID.
func (c Client) Post(path, key string, body map[string]any) string {
	c.T.Helper()
	answer := c.call(http.MethodPost, path, map[string]any{key: body})
	return answer[key].(map[string]any)["id"].(string)
}

// Put changes an object, or its tags.
func (c Client) Put(path string, body map[string]any) {
	c.T.Helper()
	c.call(http.MethodPut, path, body)
}

// Remove takes an object away.
func (c Client) Remove(path string) {
	c.T.Helper()
	c.send(http.MethodDelete, simulated+"/network/v2.0/"+path, nil).Body.Close()
}

func (c Client) call(method, path string, body any) map[string]any {
	c.T.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		c.T.Fatal(err)
	}
	answer := c.send(method, simulated+"/network/v2.0/"+path, text)
	defer answer.Body.Close()
	var decoded map[string]any
	if err := json.NewDecoder(answer.Body).Decode(&decoded); err != nil {
		c.T.Fatal(err)
	}
	return decoded
}

func (c Client) send(method, url string, body []byte) *http.Response {
	c.T.Helper()
	r, err := http.NewRequestWithContext(c.T.Context(), method, url, bytes.NewReader(body))
	if err != nil {
		c.T.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Auth-Token", c.token)
	answer, err := simulator.Transport(c.Sim).RoundTrip(r)
	if err != nil {
		c.T.Fatal(err)
	}
	if answer.StatusCode >= http.StatusBadRequest {
		c.T.Fatalf("%s %s: %s", method, url, answer.Status)
	}
	return answer
}
