package simulator_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/networks"

	"github.com/vpnctl/vpnctl/cloud/simulator"
)

func TestLogin(t *testing.T) {
	s := cloud(t, simulator.Options{})
	a := connect(t, s, "operator")
	cred := must(s.Credentials(base, "operator"))(t)
	password := func(user, word, scope string) string {
		return fmt.Sprintf(`{"auth": {"identity": {"methods": ["password"], "password": {"user": {"name": %q, "domain": {"id": "default"},
			"password": %q}}}%s}}`, user, word, scope)
	}
	credential := func(fields, scope string) string {
		return fmt.Sprintf(`{"auth": {"identity": {"methods": ["application_credential"], "application_credential": {%s}}%s}}`, fields, scope)
	}
	secret := fmt.Sprintf(`"secret": %q`, cred.Secret)
	for sentence, c := range map[string]struct {
		body   string
		status int
	}{
		"by password":                           {password("operator", cred.Password, ""), 201},
		"by password for the project":           {password("operator", cred.Password, `, "scope": {"project": {"name": "operator", "domain": {"name": "Default"}}}`), 201},
		"by password for another project":       {password("operator", cred.Password, `, "scope": {"project": {"name": "customer", "domain": {"id": "default"}}}`), 401},
		"by password for another domain":        {password("operator", cred.Password, `, "scope": {"project": {"name": "operator", "domain": {"id": "other"}}}`), 401},
		"by a wrong password":                   {password("operator", "guess", ""), 401},
		"by credential":                         {credential(fmt.Sprintf(`"id": %q, `, cred.CredentialID)+secret, ""), 201},
		"by credential's name and user":         {credential(`"name": "simulator", "user": {"name": "operator", "domain": {"id": "default"}}, `+secret, ""), 201},
		"by credential's name without a user":   {credential(`"name": "simulator", `+secret, ""), 401},
		"by a wrong secret":                     {credential(fmt.Sprintf(`"id": %q, "secret": "no"`, cred.CredentialID), ""), 401},
		"by credential with a scope, its own":   {credential(fmt.Sprintf(`"id": %q, `, cred.CredentialID)+secret, fmt.Sprintf(`, "scope": {"project": {"id": %q}}`, cred.ProjectID)), 401},
		"by an unknown method":                  {`{"auth": {"identity": {"methods": ["kerberos"]}}}`, 401},
		"by half a body":                        {`{"auth": {`, 400},
		"by token of an application credential": {fmt.Sprintf(`{"auth": {"identity": {"methods": ["token"], "token": {"id": %q}}}}`, a.token), 401},
	} {
		t.Run(sentence, func(t *testing.T) {
			if r := a.do("POST", "/identity/v3/auth/tokens", c.body); r.status != c.status {
				t.Errorf("%d %s, want %d", r.status, r.raw, c.status)
			}
		})
	}
}

func TestTokensEnd(t *testing.T) {
	clk := newClock()
	s := cloud(t, simulator.Options{Clock: clk.Now, TokenLife: time.Hour})
	a := connect(t, s, "operator")
	a.net("GET", "/networks", "", 200)
	good := a.token
	for sentence, token := range map[string]string{
		"none": "", "another": "gAAAA", "a changed one": good[:len(good)-1] + "!", "one with another content": strings.Replace(good, ".e", ".f", 1),
	} {
		a.token = token
		r := a.net("GET", "/networks", "", 401)
		if got := r.header.Get("WWW-Authenticate"); got != `Keystone uri="`+base+`/identity/v3"` {
			t.Errorf("%s: WWW-Authenticate %q", sentence, got)
		}
	}
	a.token = good
	clk.add(time.Hour)
	for _, path := range []string{"/network/v2.0/networks", "/compute/v2.1/servers", "/identity/v3/auth/catalog"} {
		if r := a.do("GET", path, ""); r.status != 401 {
			t.Errorf("%s with an expired token: %d", path, r.status)
		}
	}
}

// An expired token costs a gophercloud client one login and nothing else.
func TestExpiredTokenIsRenewed(t *testing.T) {
	clk := newClock()
	s := cloud(t, simulator.Options{Clock: clk.Now, TokenLife: time.Hour})
	c := login(t, s, "operator")
	s.Reset()
	clk.add(2 * time.Hour)
	if _, err := networks.List(c.network, nil).AllPages(context.Background()); err != nil {
		t.Fatal(err)
	}
	var statuses []int
	for _, call := range s.Calls() {
		statuses = append(statuses, call.Status)
	}
	if got := fmt.Sprint(statuses); got != "[401 201 200]" {
		t.Errorf("statuses %s, want a refusal, a login and an answer", got)
	}
}

func TestDeletedCredentialIsWorthless(t *testing.T) {
	s := cloud(t, simulator.Options{})
	a := connect(t, s, "operator")
	cred := must(s.Credentials(base, "operator"))(t)
	r := a.do("POST", "/identity/v3/auth/tokens", fmt.Sprintf(`{"auth": {"identity": {"methods": ["password"], "password": {"user":
		{"name": "operator", "domain": {"id": "default"}, "password": %q}}}}}`, cred.Password))
	a.token = r.header.Get("X-Subject-Token")
	user := r.one("token")["user"].(map[string]any)["id"].(string)
	path := "/identity/v3/users/" + user + "/application_credentials"
	made := a.do("POST", path, `{"application_credential": {"name": "second"}}`)
	if made.status != 201 {
		t.Fatalf("%d %s", made.status, made.raw)
	}
	second := *a
	r = a.do("POST", "/identity/v3/auth/tokens", fmt.Sprintf(`{"auth": {"identity": {"methods": ["application_credential"],
		"application_credential": {"id": %q, "secret": %q}}}}`, made.id("application_credential"), made.one("application_credential")["secret"]))
	second.token = r.header.Get("X-Subject-Token")
	second.net("GET", "/networks", "", 200)
	if r := second.do("POST", path, `{"application_credential": {"name": "third"}}`); r.status != http.StatusForbidden {
		t.Errorf("a credential makes another: %d", r.status)
	}
	if r := a.do("DELETE", path+"/"+made.id("application_credential"), ""); r.status != http.StatusNoContent {
		t.Errorf("deleting: %d", r.status)
	}
	second.net("GET", "/networks", "", 401)
}
