//go:build e2e

package conformance

import (
	"os"
	"testing"

	"sigs.k8s.io/yaml"
)

// TestRealServices runs the suite against the clouds named operator,
// operator-admin and customer in $OS_CLIENT_CONFIG_FILE, which the lab writes.
func TestRealServices(t *testing.T) {
	raw, err := os.ReadFile(os.Getenv("OS_CLIENT_CONFIG_FILE"))
	if err != nil {
		t.Fatalf("reading $OS_CLIENT_CONFIG_FILE: %v", err)
	}
	Run(t, fromCloudsYAML(t, raw))
}

func fromCloudsYAML(t *testing.T, raw []byte) Cloud {
	t.Helper()
	var file struct {
		Clouds map[string]struct {
			Auth struct {
				AuthURL string `json:"auth_url"`
				ID      string `json:"application_credential_id"`
				Secret  string `json:"application_credential_secret"`
			} `json:"auth"`
		} `json:"clouds"`
	}
	if err := yaml.Unmarshal(raw, &file); err != nil {
		t.Fatalf("reading clouds.yaml: %v", err)
	}
	credential := func(name string) Credential {
		return Credential{file.Clouds[name].Auth.ID, file.Clouds[name].Auth.Secret}
	}
	return Cloud{
		AuthURL:  file.Clouds["operator"].Auth.AuthURL,
		Operator: credential("operator"),
		Admin:    credential("operator-admin"),
		Customer: credential("customer"),
		Network:  "vpn-transit",
		Router:   "gateway-router",
		Pool:     "public",
		Nodes:    []string{"worker-1", "worker-2", "worker-3"},
	}
}
