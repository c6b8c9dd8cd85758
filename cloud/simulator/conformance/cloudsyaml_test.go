package conformance

import (
	"testing"

	"sigs.k8s.io/yaml"
)

// cloudsYAML is the cloud that a clouds.yaml leads to, by its entries operator,
// operator-admin and customer, and customer-password where it has that. The names in it are those of the simulator's
// default seed, which the lab has as well.
func cloudsYAML(t *testing.T, raw []byte) Cloud {
	t.Helper()
	var file struct {
		Clouds map[string]struct {
			Auth struct {
				AuthURL string `json:"auth_url"`
				ID      string `json:"application_credential_id"`
				Secret  string `json:"application_credential_secret"`
				User    string `json:"username"`
				Word    string `json:"password"`
				Project string `json:"project_name"`
			} `json:"auth"`
		} `json:"clouds"`
	}
	if err := yaml.Unmarshal(raw, &file); err != nil {
		t.Fatalf("reading clouds.yaml: %v", err)
	}
	credential := func(name string) Credential {
		entry, ok := file.Clouds[name]
		if !ok {
			t.Fatalf("clouds.yaml has no cloud %s", name)
		}
		return Credential{entry.Auth.ID, entry.Auth.Secret}
	}
	known := file.Clouds["customer-password"].Auth
	return Cloud{
		AuthURL:  file.Clouds["operator"].Auth.AuthURL,
		Operator: credential("operator"),
		Admin:    credential("operator-admin"),
		Customer: credential("customer"),
		Password: Password{known.User, known.Word, known.Project},
		Network:  "vpn-transit",
		Router:   "gateway-router",
		Pool:     "public",
		Nodes:    []string{"worker-1", "worker-2", "worker-3"},
	}
}
