package openstack

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gophercloud/gophercloud/v2"
	"sigs.k8s.io/yaml"
)

// entry is one cloud of clouds.yaml.
type entry struct {
	Auth      credentials `json:"auth"`
	Region    string      `json:"region_name"`
	Interface string      `json:"interface"`
	Endpoint  string      `json:"endpoint_type"`
	Verify    *bool       `json:"verify"`
	CACert    string      `json:"cacert"`
	Cert      string      `json:"cert"`
	Key       string      `json:"key"`
	Profile   string      `json:"profile"`
}

type credentials struct {
	AuthURL           string `json:"auth_url"`
	Username          string `json:"username"`
	UserID            string `json:"user_id"`
	Password          string `json:"password"`
	ProjectID         string `json:"project_id"`
	ProjectName       string `json:"project_name"`
	UserDomainID      string `json:"user_domain_id"`
	UserDomainName    string `json:"user_domain_name"`
	ProjectDomainID   string `json:"project_domain_id"`
	ProjectDomainName string `json:"project_domain_name"`
	DomainID          string `json:"domain_id"`
	DomainName        string `json:"domain_name"`
	CredentialID      string `json:"application_credential_id"`
	CredentialName    string `json:"application_credential_name"`
	CredentialSecret  string `json:"application_credential_secret"`
	Token             string `json:"token"`
}

// login is what an entry or the environment says, in the library's terms.
type login struct {
	auth     gophercloud.AuthOptions
	endpoint gophercloud.EndpointOpts
	entry    entry
	url      *url.URL // the auth URL; see shown
}

// keystone is where one logs in, and what one asks its catalog for.
type keystone struct {
	identity string
	url      *url.URL
	endpoint gophercloud.EndpointOpts
}

func (l login) keystone() keystone { return keystone{l.auth.IdentityEndpoint, l.url, l.endpoint} }

// at is the login at another Keystone than its own. A customer's credential is taken to
// the operator's: both projects are in one cloud, else the network could not be shared, and
// whoever holds the credential must not say who answers for that cloud.
func (l login) at(k keystone) login {
	l.auth.IdentityEndpoint, l.url, l.endpoint = k.identity, k.url, k.endpoint
	return l
}

// login chooses the entry: the one that is named, else OS_CLOUD's, else what the
// OS_* variables say. A name that no clouds.yaml knows falls back to the
// variables only where there is no clouds.yaml at all.
func (o Options) login() (login, error) {
	name := cmp.Or(o.Cloud, o.Env("OS_CLOUD"))
	if name == "" {
		return o.environment()
	}
	e, err := o.entry(name)
	if errors.Is(err, fs.ErrNotExist) && o.Env("OS_AUTH_URL") != "" {
		return o.environment()
	}
	if err != nil {
		return login{}, err
	}
	e.Region = cmp.Or(e.Region, o.Env("OS_REGION_NAME"))
	return e.login("cloud " + name + " of clouds.yaml")
}

func (o Options) environment() (login, error) {
	get := o.Env
	e := entry{
		Auth: credentials{
			AuthURL: get("OS_AUTH_URL"), Username: get("OS_USERNAME"), UserID: get("OS_USER_ID"), Password: get("OS_PASSWORD"),
			ProjectID: get("OS_PROJECT_ID"), ProjectName: get("OS_PROJECT_NAME"),
			UserDomainID: get("OS_USER_DOMAIN_ID"), UserDomainName: get("OS_USER_DOMAIN_NAME"),
			ProjectDomainID: get("OS_PROJECT_DOMAIN_ID"), ProjectDomainName: get("OS_PROJECT_DOMAIN_NAME"),
			DomainID: get("OS_DOMAIN_ID"), DomainName: get("OS_DOMAIN_NAME"),
			CredentialID: get("OS_APPLICATION_CREDENTIAL_ID"), CredentialName: get("OS_APPLICATION_CREDENTIAL_NAME"),
			CredentialSecret: get("OS_APPLICATION_CREDENTIAL_SECRET"), Token: get("OS_TOKEN"),
		},
		Region: get("OS_REGION_NAME"), Interface: get("OS_INTERFACE"), Endpoint: get("OS_ENDPOINT_TYPE"),
		CACert: get("OS_CACERT"), Cert: get("OS_CERT"), Key: get("OS_KEY"),
	}
	if e.Auth.AuthURL == "" {
		return login{}, errors.New("no cloud is named: set spec.openstack.cloud, OS_CLOUD or OS_AUTH_URL")
	}
	return e.login("the OS_* variables")
}

// login makes an entry's credentials the library's.
func (e entry) login(from string) (login, error) {
	a := e.Auth
	if a.AuthURL == "" {
		return login{}, fmt.Errorf("%s: auth_url is missing", from)
	}
	u, err := url.Parse(a.AuthURL) // its error repeats the text, and with it what may be a password
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return login{}, fmt.Errorf("%s: auth_url is not an http or https URL", from)
	}
	if a.Password == "" && a.CredentialSecret == "" && a.Token == "" {
		return login{}, fmt.Errorf("%s: neither a password nor an application credential", from)
	}
	auth := gophercloud.AuthOptions{
		IdentityEndpoint: a.AuthURL, Username: a.Username, UserID: a.UserID, Password: a.Password, TokenID: a.Token,
		DomainID: cmp.Or(a.UserDomainID, a.DomainID), DomainName: cmp.Or(a.UserDomainName, a.DomainName),
		ApplicationCredentialID: a.CredentialID, ApplicationCredentialName: a.CredentialName,
		ApplicationCredentialSecret: a.CredentialSecret,
		AllowReauth:                 a.Token == "",
	}
	if auth.DomainID != "" || auth.UserID != "" {
		auth.DomainName = ""
	}
	if auth.UserID != "" || auth.ApplicationCredentialID != "" {
		auth.DomainID, auth.DomainName, auth.Username = "", "", ""
	}
	auth.Scope = a.scope()
	kind := strings.TrimSuffix(cmp.Or(e.Interface, e.Endpoint, "public"), "URL")
	return login{auth: auth, entry: e, url: u, endpoint: gophercloud.EndpointOpts{
		Region: e.Region, Availability: gophercloud.Availability(kind)}}, nil
}

// scope is the project that a login asks for; nil: none, or the one that an application
// credential carries. A project's domain alone asks for nothing: Keystone would take it for
// a login to that domain.
func (a credentials) scope() *gophercloud.AuthScope {
	switch {
	case a.CredentialSecret != "":
		return nil
	case a.ProjectID != "":
		return &gophercloud.AuthScope{ProjectID: a.ProjectID}
	case a.ProjectName == "":
		return nil
	}
	scope := &gophercloud.AuthScope{ProjectName: a.ProjectName, DomainID: cmp.Or(a.ProjectDomainID, a.DomainID)}
	if scope.DomainID == "" {
		scope.DomainName = cmp.Or(a.ProjectDomainName, a.DomainName)
	}
	return scope
}

// shown is the auth URL as it may be printed: who logs in and a query can be
// secrets.
func (l login) shown() string {
	u := *l.url
	u.User, u.RawQuery, u.ForceQuery, u.Fragment, u.RawFragment = nil, "", false, "", ""
	return u.String()
}

// hide takes out of an error of the library what shown leaves out.
func (l login) hide(err error) error {
	said := err.Error()
	if !strings.Contains(said, l.url.Host) {
		return err
	}
	if l.url.User != nil {
		said = strings.ReplaceAll(said, l.url.User.String()+"@", "")
	}
	if l.url.RawQuery != "" {
		said = strings.ReplaceAll(said, "?"+l.url.RawQuery, "")
	}
	return errors.New(said)
}

// secrets are the parts of the credential that nobody may read in an answer, as they are
// and as JSON has them. What is shorter than any real one would garble words.
func (l login) secrets() []string {
	var all []string
	a := l.entry.Auth
	for _, s := range []string{a.CredentialID, a.CredentialSecret, a.Password, a.Token} {
		if len(s) < 8 {
			continue
		}
		all = append(all, s)
		if quoted, err := json.Marshal(s); err == nil && string(quoted) != `"`+s+`"` {
			all = append(all, string(quoted[1:len(quoted)-1]))
		}
	}
	return all
}

var errNoEntry = errors.New("there is no cloud")

// entry reads one cloud: clouds.yaml over its profile of clouds-public.yaml, and
// secure.yaml beside it over both.
func (o Options) entry(name string) (entry, error) {
	path, err := o.find("clouds.yaml")
	if err != nil {
		return entry{}, err
	}
	var e entry
	found, err := overlay(path, "clouds", name, &e)
	if err != nil {
		return entry{}, err
	}
	if !found {
		return entry{}, fmt.Errorf("%s: %w %q", path, errNoEntry, name)
	}
	beside := func(file string) string { return filepath.Join(filepath.Dir(path), file) }
	if e.Profile != "" {
		profile, own := e.Profile, entry{}
		if found, err := overlay(beside("clouds-public.yaml"), "public-clouds", profile, &own); err != nil || !found {
			return entry{}, errors.Join(fmt.Errorf("%s: there is no profile %q", beside("clouds-public.yaml"), profile), err)
		}
		e = own
		if _, err := overlay(path, "clouds", name, &e); err != nil {
			return entry{}, err
		}
	}
	if _, err := overlay(beside("secure.yaml"), "clouds", name, &e); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return entry{}, err
	}
	return e, nil
}

// find looks where OpenStack's own clients look.
func (o Options) find(file string) (string, error) {
	if path := cmp.Or(o.ConfigFile, o.Env("OS_CLIENT_CONFIG_FILE")); path != "" {
		if _, err := os.Stat(path); err != nil {
			return "", fmt.Errorf("OS_CLIENT_CONFIG_FILE names the file %s: %w: correct it, or unset it for the usual places", path, plain(err))
		}
		return path, nil
	}
	home := o.Env("XDG_CONFIG_HOME")
	if home == "" {
		home = filepath.Join(o.Env("HOME"), ".config")
	}
	for _, dir := range []string{".", filepath.Join(home, "openstack"), "/etc/openstack"} {
		path := filepath.Join(dir, file)
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s: %w in ., %s and /etc/openstack: put it there, name it in OS_CLIENT_CONFIG_FILE, or set the OS_* variables", file, fs.ErrNotExist, filepath.Join(home, "openstack"))
}

// plain is an error of a file without the file's name.
func plain(err error) error {
	if failed, is := errors.AsType[*fs.PathError](err); is {
		return failed.Err
	}
	return err
}

// overlay decodes one cloud of a file over what is in e already. YAML errors are
// told without the text around them, which may be a secret.
func overlay(path, list, name string, e *entry) (bool, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return false, err
	}
	var file map[string]map[string]any
	if err := yaml.Unmarshal(data, &file); err != nil {
		return false, fmt.Errorf("%s: not a map of clouds in YAML", path)
	}
	one, found := file[list][name]
	if !found {
		return false, nil
	}
	text, err := yaml.Marshal(one)
	if err == nil {
		err = yaml.Unmarshal(text, e)
	}
	if err != nil {
		return false, fmt.Errorf("%s: cloud %s: a value has the wrong type", path, name)
	}
	return true, nil
}

// dial is the network with the entry's TLS settings.
func (l login) dial() (http.RoundTripper, error) {
	e := l.entry
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConnsPerHost = 16
	t.ResponseHeaderTimeout = 2 * time.Minute
	t.TLSClientConfig = &tls.Config{InsecureSkipVerify: e.Verify != nil && !*e.Verify} //nolint:gosec // the user's own choice
	if e.CACert != "" {
		var err error
		if t.TLSClientConfig.RootCAs, err = authorities(e.CACert); err != nil {
			return nil, err
		}
	}
	if e.Cert != "" {
		pair, err := tls.LoadX509KeyPair(e.Cert, cmp.Or(e.Key, e.Cert))
		if err != nil {
			return nil, fmt.Errorf("reading cert and key: %w", err)
		}
		t.TLSClientConfig.Certificates = []tls.Certificate{pair}
	}
	return t, nil
}

// authorities are the certificates in a file, or in the text itself.
func authorities(from string) (*x509.CertPool, error) {
	text, where := []byte(from), "the text"
	if !strings.Contains(from, "-----BEGIN") {
		var err error
		if text, err = os.ReadFile(from); err != nil {
			return nil, fmt.Errorf("reading cacert: %w", err)
		}
		where = from
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("reading cacert: %s holds no certificate", where)
	}
	return pool, nil
}
