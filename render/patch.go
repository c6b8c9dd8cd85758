package render

import (
	"fmt"

	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/render/overlay"
)

// patched puts an estate's patches over a gateway's objects. The manifests are not
// among them: they are what the user wrote.
func patched(patches []vpn.Patch, objects []resource.Object) ([]resource.Object, error) {
	if len(patches) == 0 {
		return objects, nil
	}
	parsed, err := overlay.Parse(patches)
	if err != nil {
		return nil, fmt.Errorf("spec.patches: %w", err)
	}
	objects, err = parsed.Apply(objects)
	if err != nil {
		return nil, fmt.Errorf("spec.patches: %w", err)
	}
	return objects, nil
}

// UnmatchedPatches names the estate's patches that are for no object of any gateway.
// The graph is the desired one of the whole estate; where it holds no objects at all
// nothing is said.
func UnmatchedPatches(e vpn.Estate, desired resource.Graph) []Problem {
	var objects []resource.Object
	for _, r := range desired {
		if r.Object != nil && r.ID.Kind != resource.KindKustomization {
			objects = append(objects, *r.Object)
		}
	}
	parsed, err := overlay.Parse(e.Patches)
	if err != nil || len(objects) == 0 {
		return nil // a patch that can't be read is each gateway's problem already
	}
	var problems []Problem
	for _, n := range parsed.Unmatched(objects) {
		problems = append(problems, Problem{
			Message: fmt.Sprintf("spec.patches[%d] is for no rendered object", n-1),
			Hint:    "compare its target with what vpnctl render writes",
		})
	}
	return problems
}
