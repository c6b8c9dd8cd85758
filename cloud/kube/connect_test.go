package kube_test

import (
	"strings"
	"testing"

	"github.com/vpnctl/vpnctl/cloud/kube"
)

// TestConnectNamesTheFileThatIsMissing: whoever mistypes $KUBECONFIG is told which file.
func TestConnectNamesTheFileThatIsMissing(t *testing.T) {
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	file := t.TempDir() + "/none"
	t.Setenv("KUBECONFIG", file)
	_, _, err := kube.Connect(kube.Access{}, kube.Options{})
	if err == nil || !strings.Contains(err.Error(), file) || !strings.Contains(err.Error(), "$KUBECONFIG") {
		t.Errorf("error %v, want one that names %s and who names it", err, file)
	}
}
