package manifest_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/vpnctl/vpnctl/crds/admission"
)

// refused names the objects of a stream that are refused, one a line.
func refused(t *testing.T, server admission.Server, text string) string {
	t.Helper()
	var out strings.Builder
	for _, doc := range bytes.Split([]byte(text), []byte("\n---\n")) {
		var obj map[string]any
		if err := yaml.Unmarshal(doc, &obj); err != nil {
			fmt.Fprintf(&out, "~ not YAML\n")
			continue
		}
		delete(obj, "status") // a resource of its own
		if errs := server.Check(obj, nil); len(errs) > 0 {
			meta, _ := obj["metadata"].(map[string]any)
			fmt.Fprintf(&out, "~ %v %v\n", obj["kind"], meta["name"])
		}
	}
	return out.String()
}
