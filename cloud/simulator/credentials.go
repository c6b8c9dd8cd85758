package simulator

import (
	"fmt"
	"slices"
	"strings"

	"github.com/vpnctl/vpnctl/cloud/simulator/internal/store"
)

// Clouds are the names of the logins: a member of the operator's project, its admin, and a customer.
func Clouds() []string { return []string{"operator", "operator-admin", "customer"} }

// Credentials are what a client needs to log in.
type Credentials struct {
	AuthURL             string
	Region              string
	ProjectID           string
	CredentialID        string            // of an application credential
	Secret              string            // of that credential
	Username, Password  string            // the same login by password
	ProjectName, Domain string            // for a login by password
	Env                 map[string]string // OS_* variables for the application credential
	CloudsYAML          string            // a clouds.yaml with all of Clouds
}

// Credentials returns how to log in to one of Clouds at the server's URL, as Listen returned it.
func (s *Server) Credentials(url, cloud string) (Credentials, error) {
	if known := append(Clouds(), "admin"); !slices.Contains(append(known, s.options.Seed.Customers...), cloud) {
		return Credentials{}, fmt.Errorf("cloud %q is none of %s", cloud, strings.Join(Clouds(), ", "))
	}
	c := Credentials{AuthURL: strings.TrimSuffix(url, "/") + "/identity/v3", Region: s.options.Seed.Region,
		Username: cloud, Domain: "Default", CloudsYAML: s.cloudsYAML(url)}
	err := s.db.Do(func() error {
		cred, ok := s.db.Credentials.Get(store.StableID("credential " + cloud))
		if !ok {
			return fmt.Errorf("the state has no login for cloud %s", cloud)
		}
		p, _ := s.db.Projects.Get(cred.ProjectID)
		u, _ := s.db.Users.Get(cred.UserID)
		if p == nil || u == nil {
			return fmt.Errorf("the state has no project for cloud %s", cloud)
		}
		c.ProjectID, c.ProjectName, c.Password = p.ID, p.Name, u.Password
		c.CredentialID, c.Secret = cred.ID, cred.Secret
		return nil
	})
	c.Env = map[string]string{"OS_AUTH_URL": c.AuthURL, "OS_AUTH_TYPE": "v3applicationcredential", "OS_REGION_NAME": c.Region,
		"OS_APPLICATION_CREDENTIAL_ID": c.CredentialID, "OS_APPLICATION_CREDENTIAL_SECRET": c.Secret}
	return c, err
}

func (s *Server) cloudsYAML(url string) string {
	var b strings.Builder
	b.WriteString("clouds:\n")
	for _, cloud := range Clouds() {
		fmt.Fprintf(&b, "  %s:\n    auth_type: v3applicationcredential\n    region_name: %s\n    identity_api_version: \"3\"\n",
			cloud, s.options.Seed.Region)
		fmt.Fprintf(&b, "    auth:\n      auth_url: %s/identity/v3\n      application_credential_id: %s\n      application_credential_secret: %s\n",
			strings.TrimSuffix(url, "/"), store.StableID("credential "+cloud), store.StableID("secret "+cloud))
	}
	return b.String()
}
