package openstack

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/cloud/simulator"
)

const cloudsYAML = `
clouds:
  prod:
    region_name: fra1
    interface: internal
    auth:
      auth_url: https://identity.example/v3
      application_credential_id: abc
      application_credential_secret: hush
  named:
    profile: vendor
    auth: {username: ann, project_name: vpn}
  number:
    auth: {auth_url: [1], password: hush}
`

func TestLogin(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"clouds.yaml":        cloudsYAML,
		"secure.yaml":        "clouds: {named: {auth: {password: hush}}}",
		"clouds-public.yaml": "public-clouds: {vendor: {region_name: r1, auth: {auth_url: 'https://vendor.example/v3', user_domain_name: Default, project_domain_name: Default}}}",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		options Options
		env     map[string]string
		want    string // auth URL, user, scope, region, interface; or what the error says
	}{
		"an application credential": {Options{Cloud: "prod"}, nil, "https://identity.example/v3 abc - fra1 internal"},
		"OS_CLOUD":                  {Options{}, map[string]string{"OS_CLOUD": "prod"}, "https://identity.example/v3 abc - fra1 internal"},
		"the name given wins":       {Options{Cloud: "named"}, map[string]string{"OS_CLOUD": "prod"}, "https://vendor.example/v3 ann@Default vpn@Default r1 public"},
		"variables alone": {Options{}, map[string]string{"OS_AUTH_URL": "http://a/v3", "OS_USERNAME": "bob", "OS_PASSWORD": "hush", "OS_USER_DOMAIN_NAME": "Default",
			"OS_PROJECT_ID": "p1", "OS_INTERFACE": "internalURL"}, "http://a/v3 bob@Default p1@  internal"},
		"a name that no file knows":  {Options{Cloud: "nope"}, nil, "there is no cloud \"nope\""},
		"a value of the wrong type":  {Options{Cloud: "number"}, nil, "a value has the wrong type"},
		"nothing at all":             {Options{}, nil, "no cloud is named"},
		"variables without a secret": {Options{}, map[string]string{"OS_AUTH_URL": "http://a/v3"}, "neither a password nor an application credential"},
	} {
		t.Run(name, func(t *testing.T) {
			o := c.options
			o.Env = func(key string) string { return c.env[key] }
			o.ConfigFile = filepath.Join(dir, "clouds.yaml")
			l, err := o.login()
			if err != nil {
				if !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "hush") {
					t.Errorf("error %v, want one that says %s", err, c.want)
				}
				return
			}
			scope := "-"
			if s := l.auth.Scope; s != nil {
				scope = s.ProjectID + s.ProjectName + "@" + s.DomainName
			}
			user := l.auth.ApplicationCredentialID
			if user == "" {
				user = l.auth.Username + "@" + l.auth.DomainName
			}
			got := strings.Join([]string{l.auth.IdentityEndpoint, user, scope, l.endpoint.Region, string(l.endpoint.Availability)}, " ")
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestVariablesServeWhereThereIsNoFile(t *testing.T) {
	env := map[string]string{"OS_AUTH_URL": "http://a/v3", "OS_APPLICATION_CREDENTIAL_ID": "abc", "OS_APPLICATION_CREDENTIAL_SECRET": "hush"}
	o := Options{Cloud: "operator", ConfigFile: filepath.Join(t.TempDir(), "clouds.yaml"), Env: func(key string) string { return env[key] }}
	if l, err := o.login(); err != nil || l.auth.ApplicationCredentialID != "abc" {
		t.Errorf("login %v, error %v", l.auth.ApplicationCredentialID, err)
	}
}

// A login that is refused says where and why, and not with what.
func TestARefusedLoginKeepsItsSecret(t *testing.T) {
	l := newLab(t, simulator.Options{})
	env := map[string]string{"OS_AUTH_URL": "http://simulator.invalid/identity/v3", "OS_APPLICATION_CREDENTIAL_ID": "abc", "OS_APPLICATION_CREDENTIAL_SECRET": "hush"}
	_, err := Connect(t.Context(), Options{Env: func(key string) string { return env[key] }, Transport: simulator.Transport(l.Server), Clock: hasty()})
	if err == nil || !strings.Contains(err.Error(), "logging in to http://simulator.invalid/identity/v3: 404") || strings.Contains(err.Error(), "hush") {
		t.Errorf("error %v", err)
	}
}

// An auth URL may hold a password of its own, for a proxy before Keystone, or a
// token in its query. No error shows them, whatever goes wrong.
func TestAnAuthURLIsShownWithoutItsSecrets(t *testing.T) {
	for name, c := range map[string]struct {
		url    string
		answer func(*http.Request) (*http.Response, error)
		want   string
	}{
		"no URL":               {"http://ann:hush@ho st/v3?token=hush", nil, "the OS_* variables: auth_url is not an http or https URL"},
		"an escape that isn't": {"http://ann:%zzhush@a.invalid/v3", nil, "the OS_* variables: auth_url is not an http or https URL"},
		"no scheme":            {"ann:hush@a.invalid/v3", nil, "the OS_* variables: auth_url is not an http or https URL"},
		"another scheme":       {"file://ann:hush@a.invalid/v3", nil, "the OS_* variables: auth_url is not an http or https URL"},
		"no answer": {"http://ann:hush@a.invalid/v3", func(*http.Request) (*http.Response, error) { return nil, io.ErrUnexpectedEOF },
			"logging in to http://a.invalid/v3: no answer: unexpected EOF"},
		"a refusal": {"http://ann:hush@a.invalid/v3?token=hush#hush", func(r *http.Request) (*http.Response, error) { return reply(r, 401, `{}`) },
			"logging in to http://a.invalid/v3: 401: Unauthorized"},
		"no version that is known": {"http://ann:hush@a.invalid/?token=hush", func(r *http.Request) (*http.Response, error) { return reply(r, 300, `{"versions":{"values":[]}}`) },
			"logging in to http://a.invalid/: no supported version available from endpoint http://a.invalid/"},
	} {
		t.Run(name, func(t *testing.T) {
			env := map[string]string{"OS_AUTH_URL": c.url, "OS_APPLICATION_CREDENTIAL_ID": "abc", "OS_APPLICATION_CREDENTIAL_SECRET": "hush"}
			_, err := Connect(t.Context(), Options{Env: func(key string) string { return env[key] }, Transport: answers(c.answer), Clock: hasty()})
			if err == nil {
				t.Fatal("logged in")
			}
			if diff := cmp.Diff(c.want, err.Error()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// answers is a cloud in one function.
type answers func(*http.Request) (*http.Response, error)

func (f answers) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func reply(r *http.Request, status int, body string) (*http.Response, error) {
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
}

// A password login with a project's name, a token that expires, and a second
// login for it.
func TestATokenIsRenewedOnce(t *testing.T) {
	l := newLab(t, simulator.Options{})
	c, err := l.Credentials("http://simulator.invalid", "operator")
	if err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"OS_AUTH_URL": c.AuthURL, "OS_USERNAME": c.Username, "OS_PASSWORD": c.Password, "OS_USER_DOMAIN_NAME": c.Domain,
		"OS_PROJECT_NAME": c.ProjectName, "OS_PROJECT_DOMAIN_NAME": c.Domain, "OS_REGION_NAME": c.Region}
	d, err := Connect(t.Context(), Options{Env: func(key string) string { return env[key] }, Transport: simulator.Transport(l.Server), Clock: hasty()})
	if err != nil {
		t.Fatal(err)
	}
	if d.Project() != c.ProjectID {
		t.Errorf("project %s, want %s", d.Project(), c.ProjectID)
	}
	d.neutron.ProviderClient.SetToken("stale")
	l.Reset()
	if _, err := d.Locate(t.Context(), estate()); err != nil {
		t.Fatal(err)
	}
	if n := simulator.Count(l.Calls()).Keystone; n != 1 {
		t.Errorf("logged in %d times, want once", n)
	}
}
