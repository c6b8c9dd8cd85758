package live

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/plan/resource"
)

// TestAMemoryChangesNothing: whatever became of either side since it was compared last,
// the answer is that of a comparison without a memory.
func TestAMemoryChangesNothing(t *testing.T) {
	object := func(apiVersion, content string) resource.Graph {
		return resource.Graph{id: {ID: id, Object: &resource.Object{APIVersion: apiVersion, Kind: "Deployment", Content: content, Path: "acme/dc1/deployment-dc1.yaml"}}}
	}
	standing := func(uid, version, json string) resource.Graph {
		return resource.Graph{id: {ID: id, Owner: "VPNGateway/acme/dc1", Object: &resource.Object{
			APIVersion: "apps/v1", Kind: "Deployment", Live: &resource.Live{JSON: []byte(json), UID: uid, Version: version},
		}}}
	}
	const one, two = `{"spec":{"replicas":1}}`, `{"spec":{"replicas":2}}`
	const wanted = marker + "apiVersion: apps/v1\nkind: Deployment\nspec:\n  replicas: 1\n"
	type look struct{ desired, observed resource.Graph }
	as := object("apps/v1", wanted)
	for name, looks := range map[string][]look{
		"nothing changed":                       {{as, standing("a", "1", one)}, {as, standing("a", "1", one)}},
		"the live one changed":                  {{as, standing("a", "1", one)}, {as, standing("a", "2", two)}},
		"it changed back":                       {{as, standing("a", "1", one)}, {as, standing("a", "2", two)}, {as, standing("a", "3", one)}},
		"another one has its version":           {{as, standing("a", "1", one)}, {as, standing("b", "1", two)}},
		"the desired one changed":               {{as, standing("a", "1", one)}, {object("apps/v1", wanted+"  paused: true\n"), standing("a", "1", one)}},
		"the desired one is of another version": {{as, standing("a", "1", one)}, {object("apps/v2", wanted), standing("a", "1", one)}},
		"a version that isn't told":             {{as, standing("a", "", one)}, {as, standing("a", "", two)}},
		"neither uid nor version":               {{as, standing("", "", two)}, {as, standing("", "", two)}},
		"nobody wants it any more":              {{as, standing("a", "1", one)}, {resource.Graph{}, standing("a", "1", one)}},
		"it was gone between":                   {{as, standing("a", "1", one)}, {as, resource.Graph{}}, {as, standing("b", "1", two)}},
		"it differed, and still does":           {{as, standing("a", "1", two)}, {as, standing("a", "1", two)}},
	} {
		t.Run(name, func(t *testing.T) {
			var m Memory
			for i, l := range looks {
				if diff := cmp.Diff(Align(l.desired, l.observed), m.Align(l.desired, l.observed)); diff != "" {
					t.Errorf("look %d: (-without a memory +with one)\n%s", i, diff)
				}
			}
		})
	}
}

// TestAMemorySparesDecoding: what was equal isn't read again, which an object shows that
// can't be.
func TestAMemorySparesDecoding(t *testing.T) {
	wanted := resource.Graph{id: {ID: id, Object: &resource.Object{APIVersion: "apps/v1", Kind: "Deployment", Content: marker + "apiVersion: apps/v1\nkind: Deployment\nspec:\n  replicas: 1\n"}}}
	live := &resource.Live{JSON: []byte(`{"spec":{"replicas":1}}`), UID: "a", Version: "1"}
	seen := resource.Graph{id: {ID: id, Object: &resource.Object{APIVersion: "apps/v1", Kind: "Deployment", Live: live}}}
	var m Memory
	for _, text := range []string{string(live.JSON), "{"} {
		live.JSON = []byte(text)
		if got := m.Align(wanted, seen)[id].Object.Content; got != wanted[id].Object.Content {
			t.Errorf("an object of the same version as before, with %s in it, is\n%s", text, got)
		}
	}
}
