package render

import (
	"fmt"

	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/render/overlay"
)

// patched puts the estate's patches over the gateway's objects, and notes which of
// them were for one. The manifests are not among the objects: they are what the user
// wrote.
func (r *rendering) patched(objects []resource.Object) ([]resource.Object, error) {
	if len(r.in.Estate.Patches) == 0 {
		return objects, nil
	}
	parsed, err := overlay.Parse(r.in.Estate.Patches)
	if err != nil {
		return nil, err
	}
	objects, r.used, err = parsed.Apply(objects)
	return objects, err
}

// unused names the patches that were for no object of any gateway.
func unused(patches int, used [][]bool) []Problem {
	var problems []Problem
	for n := range patches {
		some := false
		for _, gateway := range used {
			some = some || gateway[n]
		}
		if !some {
			problems = append(problems, Problem{
				Message: fmt.Sprintf("spec.patches[%d] is for no rendered object", n),
				Hint:    "compare its target with what vpnctl render writes",
			})
		}
	}
	return problems
}
