package plan

import (
	"sigs.k8s.io/yaml"

	"github.com/vpnctl/vpnctl/plan/resource"
)

const (
	kindSecret = "Secret"
	hidden     = "(hidden)"
)

// shown is the resource as a plan may hold it: a Secret without its content, unless that
// is its metadata alone.
func shown(r *resource.Resource) *resource.Resource {
	if r == nil || r.Object == nil || r.Object.Kind != kindSecret || empty(r.Object.Content) {
		return r
	}
	bare := *r
	o := *r.Object
	o.Content = hidden
	bare.Object = &o
	return &bare
}

// lent tells whether an observed Secret is another hand's, which serves a gateway and
// says nothing of it: it never goes with it.
func lent(have *resource.Resource) bool {
	return have.Object != nil && have.Object.Kind == kindSecret && have.Proof == ""
}

// empty tells whether a Secret's text says nothing but which Secret it is.
func empty(content string) bool {
	var object map[string]any
	if yaml.Unmarshal([]byte(content), &object) != nil || object == nil {
		return false
	}
	for field := range object {
		if field != "apiVersion" && field != "kind" && field != "metadata" {
			return false
		}
	}
	meta, _ := object["metadata"].(map[string]any)
	notes, plain := meta["annotations"].(map[string]any)
	if meta["annotations"] == nil {
		return true
	}
	_, whose := notes[resource.OwnerAnnotation]
	return plain && whose && len(notes) == 1 // kubectl apply leaves a copy of the whole in another one
}
