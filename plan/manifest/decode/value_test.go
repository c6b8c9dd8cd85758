package decode_test

import (
	"fmt"
	"testing"

	"github.com/vpnctl/vpnctl/plan/manifest/decode"
)

const tree = `spec:
  tunnels:
    - name: hq
      peer: {id: a}
    - name: annex
  "odd.name[0]": 1
`

// A field path leads to the key of an entry or to an item, and where it ends
// early, to the last part that is there.
func TestAt(t *testing.T) {
	docs, problems := decode.Documents([]byte("# comment\n---\n" + tree))
	if len(problems) > 0 || len(docs) != 1 || docs[0].Index != 2 {
		t.Fatal(docs, problems)
	}
	for path, want := range map[string]string{
		"":                          "3:1",
		"spec":                      "3:1",
		"spec.tunnels":              "4:3",
		"spec.tunnels[0]":           "5:7",
		"spec.tunnels[0].peer.id":   "6:14",
		"spec.tunnels[1].name":      "7:7",
		"spec.tunnels[1].peer.id":   "7:7",
		"spec.tunnels[2].name":      "4:3",
		"spec.tunnels[x]":           "4:3",
		"spec.tunnels[99999999999]": "4:3",
		"spec.tunnels[":             "4:3",
		`spec["odd.name[0]"]`:       "8:3",
		"spec.missing":              "3:1",
		"missing":                   "3:1",
	} {
		line, column := docs[0].Root.At(path)
		if got := fmt.Sprintf("%d:%d", line, column); got != want {
			t.Errorf("%q is at %s, want %s", path, got, want)
		}
	}
}

func TestNearest(t *testing.T) {
	kinds := []string{"ClusterLink", "Estate", "IPsecGateway", "VPNGateway", "VPNPeer"}
	for name, want := range map[string]string{
		"VPNGatewey":   "VPNGateway",
		"vpngateway":   "VPNGateway",
		"IPSecGateway": "IPsecGateway",
		"VPNPere":      "VPNPeer",
		"Secret":       "",
		"Gateway":      "",
		"":             "",
	} {
		if got := decode.Nearest(name, kinds); got != want {
			t.Errorf("%q is near %q, want %q", name, got, want)
		}
	}
}

// Values are compared by what they say.
func TestEqual(t *testing.T) {
	for sentence, c := range map[string]struct {
		a, b string
		want bool
	}{
		"the same":                     {"a: [1, {b: c}]", "a: [1, {b: c}]", true},
		"another way of writing":       {"a:\n  - \"x\"\n", "{a: [x]}", true},
		"another order of a mapping":   {"a: 1\nb: 2\n", "b: 2\na: 1\n", true},
		"another order of a list":      {"[a, b]", "[b, a]", false},
		"a number that becomes a text": {"a: 1", "a: \"1\"", false},
		"a field more":                 {"a: 1", "{a: 1, b: 2}", false},
		"another field":                {"a: 1", "b: 1", false},
		"an item more":                 {"[a]", "[a, b]", false},
	} {
		a, _ := decode.Documents([]byte(c.a))
		b, _ := decode.Documents([]byte(c.b))
		if got := a[0].Root.Equal(b[0].Root); got != c.want {
			t.Errorf("%s: equal is %v", sentence, got)
		}
	}
	var none *decode.Value
	if !none.Equal(nil) || none.Equal(&decode.Value{}) {
		t.Error("nothing is equal to nothing alone")
	}
}
