package reconcile

import (
	"slices"

	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// checkNamespaces refuses gateways whose namespace a cluster doesn't have: nothing of
// theirs could be written there.
func (d *decision) checkNamespaces() {
	if d.seen.Namespaces == nil {
		return
	}
	for _, g := range d.Estate.Gateways {
		if ns := g.Owner.Namespace; !d.seen.Namespaces[ns] {
			d.note(plan.Refusal{Owner: g.Owner, ID: resource.ID{Kind: resource.KubernetesKind("Namespace"), Name: ns},
				Message: "the cluster has no namespace " + ns, Hint: "kubectl create namespace " + ns})
		}
	}
}

// lacking leaves of what new gateways and peers need in a cluster what isn't there. What
// can't be seen counts as not there.
func (d *decision) lacking(owners []plan.Owner) {
	for i := range owners {
		o := &owners[i]
		if d.seen.Namespaces[o.Owner.Namespace] {
			o.Namespace = ""
		}
		if d.seen.Secrets == nil {
			continue
		}
		o.Secrets = slices.DeleteFunc(slices.Clone(o.Secrets), func(s vpn.SecretRef) bool {
			_, there := d.seen.Secrets[o.Owner.Namespace+"/"+s.Name]
			return there
		})
		if len(o.Secrets) == 0 {
			o.Secrets = nil
		}
	}
}
