package health

import (
	_ "embed"
	"fmt"
	"strings"

	ipsecv1alpha1 "github.com/vpnctl/vpnctl/crds/ipsec/v1alpha1"
	vpnv1alpha1 "github.com/vpnctl/vpnctl/crds/vpn/v1alpha1"
)

// rule is how one kind says that it is healthy.
type rule struct {
	group, version, kind string
	held                 bool // reconcile puts a finalizer on: nothing holds a peer
}

// rules are those of all kinds.
var rules = []rule{
	{vpnv1alpha1.Group, vpnv1alpha1.Version, vpnv1alpha1.KindVPNGateway, true},
	{vpnv1alpha1.Group, vpnv1alpha1.Version, vpnv1alpha1.KindVPNPeer, false},
	{ipsecv1alpha1.Group, ipsecv1alpha1.Version, ipsecv1alpha1.KindIPsecGateway, true},
	{ipsecv1alpha1.Group, ipsecv1alpha1.Version, ipsecv1alpha1.KindClusterLink, true},
}

//go:embed health.lua
var script string

// ArgoCD is a patch for the ConfigMap argocd-cm: one health check in Lua for each kind.
func ArgoCD() string {
	var b strings.Builder
	lua := strings.ReplaceAll(script, "CONDITION", vpnv1alpha1.ConditionReady)
	b.WriteString("# kubectl -n argocd patch configmap argocd-cm --type merge --patch-file FILE\ndata:\n")
	for _, r := range rules {
		fmt.Fprintf(&b, "  resource.customizations.health.%s_%s: |\n", r.group, r.kind)
		for line := range strings.Lines(lua) {
			b.WriteString("    " + line)
		}
	}
	return b.String()
}

// Flux is a patch for a Kustomization: its health checks in CEL.
func Flux() string {
	var b strings.Builder
	b.WriteString("# kubectl -n flux-system patch kustomization NAME --type merge --patch-file FILE\nspec:\n  wait: true\n  healthCheckExprs:\n")
	for _, r := range rules {
		e := r.cel()
		fmt.Fprintf(&b, "  - apiVersion: %s/%s\n    kind: %s\n", r.group, r.version, r.kind)
		fmt.Fprintf(&b, "    inProgress: >-\n      %s\n    failed: >-\n      %s\n    current: >-\n      %s\n", e.inProgress, e.failed, e.current)
	}
	return b.String()
}

// expressions are the three questions that Flux asks, in this order: the first that is
// true counts.
type expressions struct{ inProgress, failed, current string }

func (r rule) cel() expressions {
	is := func(what string) string {
		return fmt.Sprintf(`status.conditions.exists(c, c.type == %q && %s)`, vpnv1alpha1.ConditionReady, what)
	}
	const (
		conditions = `has(status.conditions)`
		old        = `has(c.observedGeneration) && c.observedGeneration < metadata.generation`
	)
	if !r.held {
		said := fmt.Sprintf(`%s && %s && %s`, written, conditions, is("true"))
		return expressions{
			inProgress: fmt.Sprintf(`%s && (%s || %s)`, said, is(old), is(`c.status == "Unknown"`)),
			failed:     fmt.Sprintf(`%s && %s`, said, is(`c.status == "False"`)),
			current:    fmt.Sprintf(`!(%s) || %s`, said, is(`c.status == "True"`)),
		}
	}
	return expressions{
		inProgress: fmt.Sprintf(`%s && (!%s || !%s || %s || %s)`, held, conditions, is("true"), is(old), is(`c.status == "Unknown"`)),
		failed:     fmt.Sprintf(`%s && %s && %s`, held, conditions, is(`c.status == "False"`)),
		current:    fmt.Sprintf(`!(%s) || %s && %s`, held, conditions, is(`c.status == "True"`)),
	}
}

// CEL has no way to ask for a status that may be missing, and Flux takes an error for no
// answer. Where one of these is true there is a status.
const (
	// held tells whether reconcile keeps the object: it writes a first condition before that.
	held = `has(metadata.finalizers) && metadata.finalizers.exists(f, f.startsWith("vpn.bnerd.net/") || f.startsWith("ipsec.bnerd.net/"))`
	// written tells whether anybody, maybe the gateway's pod alone, has written a status.
	written = `has(metadata.managedFields) && metadata.managedFields.exists(f, has(f.subresource) && f.subresource == "status")`
)
