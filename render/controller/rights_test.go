package controller

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"
)

// TestRights: each is told once, says why, and none is for everything.
func TestRights(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range slices.Concat(Rights(), LeaseRights("prod")) {
		if r.Why == "" {
			t.Errorf("%v: why?", r.Resources)
		}
		for _, resource := range r.Resources {
			for _, verb := range r.Verbs {
				key := strings.Join([]string{r.Group, resource, verb}, " ")
				if seen[key] {
					t.Errorf("%s is told twice", key)
				}
				seen[key] = true
				if strings.Contains(key, "*") || slices.Contains([]string{"escalate", "bind", "impersonate", "deletecollection"}, verb) {
					t.Errorf("%s is too much", key)
				}
			}
		}
	}
}

// TestGatewaysRoles: the controller holds what a gateway's Role gives, as the API server
// asks of whoever writes a Role.
func TestGatewaysRoles(t *testing.T) {
	held := map[string]bool{}
	for _, r := range Rights() {
		for _, resource := range r.Resources {
			for _, verb := range r.Verbs {
				held[r.Group+" "+resource+" "+verb] = true
			}
		}
	}
	looked := 0
	err := filepath.WalkDir("../../testdata/golden", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasPrefix(filepath.Base(path), "role-") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var role rbacv1.Role
		if err := yaml.Unmarshal(text, &role); err != nil {
			return err
		}
		for _, rule := range role.Rules {
			for _, group := range rule.APIGroups {
				for _, resource := range rule.Resources {
					for _, verb := range rule.Verbs {
						looked++
						if !held[group+" "+resource+" "+verb] {
							t.Errorf("%s: gives %s of %s %s, which the controller doesn't hold", path, verb, group, resource)
						}
					}
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if looked < 10 {
		t.Errorf("only %d rights of gateways were looked at", looked)
	}
}
