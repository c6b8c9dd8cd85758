package world

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/vpnctl/vpnctl/cloud/openstack"
)

// Credential is an application credential that was made for a test.
type Credential struct {
	openstack.Options        // how one logs in with it
	Revoke            func() // takes it away, for good
}

// Credential makes another application credential for one who logs in so. Its attributes
// may be its roles and when it expires.
func (w *World) Credential(login string, attributes map[string]any) Credential {
	w.T.Helper()
	known, err := w.Sim.Credentials(simulated, login)
	if err != nil {
		w.T.Fatal(err)
	}
	user, c := byPassword(w, login, known.Password, known.AuthURL)
	wanted := map[string]any{"name": fmt.Sprintf("made for a test, %v", attributes)}
	for name, value := range attributes {
		wanted[name] = value
	}
	text, err := json.Marshal(map[string]any{"application_credential": wanted})
	if err != nil {
		w.T.Fatal(err)
	}
	address := known.AuthURL + "/users/" + user + "/application_credentials"
	answer := c.send(http.MethodPost, address, text)
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusCreated {
		w.T.Fatalf("making a credential with %v: %s", attributes, answer.Status)
	}
	var made struct {
		Credential struct{ ID, Secret string } `json:"application_credential"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&made); err != nil {
		w.T.Fatal(err)
	}
	o, err := w.Options(login)
	if err != nil {
		w.T.Fatal(err)
	}
	env := map[string]string{"OS_AUTH_URL": known.AuthURL, "OS_APPLICATION_CREDENTIAL_ID": made.Credential.ID, "OS_APPLICATION_CREDENTIAL_SECRET": made.Credential.Secret}
	o.Env = func(key string) string { return env[key] }
	return Credential{Options: o, Revoke: func() {
		c.send(http.MethodDelete, address+"/"+made.Credential.ID, nil).Body.Close()
	}}
}

// byPassword logs in with a password, and tells the ID of who does.
func byPassword(w *World, name, password, url string) (user string, c Client) {
	w.T.Helper()
	body := fmt.Sprintf(`{"auth": {"identity": {"methods": ["password"], "password": {"user": {"name": %q, "domain": {"id": "default"}, "password": %q}}}}}`, name, password)
	answer := Client{World: w}.send(http.MethodPost, url+"/auth/tokens", []byte(body))
	defer answer.Body.Close()
	var token struct {
		Token struct{ User struct{ ID string } }
	}
	if err := json.NewDecoder(answer.Body).Decode(&token); err != nil {
		w.T.Fatal(err)
	}
	return token.Token.User.ID, Client{w, answer.Header.Get("X-Subject-Token")}
}
