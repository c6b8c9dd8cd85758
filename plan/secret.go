package plan

import "github.com/vpnctl/vpnctl/plan/resource"

const (
	kindSecret = "Secret"
	hidden     = "(hidden)"
)

// shown is the resource as a plan may hold it: a Secret without its content.
func shown(r *resource.Resource) *resource.Resource {
	if r == nil || r.Object == nil || r.Object.Kind != kindSecret {
		return r
	}
	bare := *r
	o := *r.Object
	o.Content = hidden
	bare.Object = &o
	return &bare
}
