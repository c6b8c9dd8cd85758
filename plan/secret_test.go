package plan

import (
	"testing"

	"github.com/vpnctl/vpnctl/plan/resource"
)

// TestShownSecrets: a plan holds of a Secret what names it, and never what it holds.
func TestShownSecrets(t *testing.T) {
	const names = "apiVersion: v1\nkind: Secret\nmetadata:\n  name: dc1-wg-key\n  labels:\n    a: b\n"
	for content, want := range map[string]string{
		names: names,
		names + "data:\n  privateKey: c2VjcmV0\n":    hidden,
		names + "stringData:\n  a: secret\n":         hidden,
		names + "  annotations:\n    last: secret\n": hidden,
		"- secret\n": hidden,
		"{":          hidden,
		"":           hidden,
		"secret":     hidden,
	} {
		r := resource.Resource{Object: &resource.Object{Kind: "Secret", Content: content}}
		if got := shown(&r).Object.Content; got != want {
			t.Errorf("%q is shown as %q, want %q", content, got, want)
		}
		if r.Object.Content != content {
			t.Errorf("%q was changed", content)
		}
	}
}
