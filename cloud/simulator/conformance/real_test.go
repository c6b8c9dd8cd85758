//go:build e2e

package conformance

import (
	"os"
	"testing"
)

// TestRealServices runs the suite against the services that the clouds.yaml of
// $OS_CLIENT_CONFIG_FILE, which the lab writes, leads to.
func TestRealServices(t *testing.T) {
	raw, err := os.ReadFile(os.Getenv("OS_CLIENT_CONFIG_FILE"))
	if err != nil {
		t.Fatalf("reading $OS_CLIENT_CONFIG_FILE: %v", err)
	}
	Run(t, cloudsYAML(t, raw))
}
