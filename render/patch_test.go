package render

import (
	"strings"
	"testing"

	"github.com/vpnctl/vpnctl/plan/manifest"
)

const patchedEstate = `apiVersion: vpnctl.bnerd.net/v1alpha1
kind: Estate
metadata: {name: prod}
spec:
  openstack: {network: transit, router: edge, floatingIPPool: public}
  kubernetes:
    target: directory
    nodes: [{name: worker-1, serverID: c3f0ea92-3c32-4141-bf59-214fe50dcac9}]
  patches: [PATCH]
`

// What validation accepts is for the objects that it means, and is carried out.
func TestPatchesAsTheyAreWritten(t *testing.T) {
	for sentence, c := range map[string]struct {
		patch string
		want  int // objects that it changes
	}{
		"an object that the patch names":   {`{patch: "{apiVersion: apps/v1, kind: Deployment, metadata: {name: dc1, annotations: {a: b}}}"}`, 1},
		"one named without its apiVersion": {`{patch: "{kind: Deployment, metadata: {name: dc1, annotations: {a: b}}}"}`, 1},
		"a target":                         {`{target: {kind: ConfigMap}, patch: "{metadata: {annotations: {a: b}}}"}`, 2},
		"an empty target is every object":  {`{target: {}, patch: "{metadata: {annotations: {a: b}}}"}`, 8},
	} {
		t.Run(sentence, func(t *testing.T) {
			loaded, found := manifest.Load([]string{"-"}, manifest.Options{Stdin: strings.NewReader(strings.Replace(patchedEstate, "PATCH", c.patch, 1))})
			if len(found) > 0 {
				t.Fatal(found)
			}
			in := copied(t, acme())
			before := rendered(t, in)
			in.Estate.Patches = loaded.Estate.Patches
			changed := 0
			for id, r := range rendered(t, in) {
				if r.Object != nil && r.Object.Content != before[id].Object.Content {
					changed++
				}
			}
			if changed != c.want {
				t.Errorf("%d objects are changed, want %d", changed, c.want)
			}
		})
	}
}
