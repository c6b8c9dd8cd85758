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
	condition            string   // what counts
	harmless             []string // reasons for which False is no fault
}

// rules are those of all kinds. A peer without a grant is as its manifest says.
var rules = []rule{
	{vpnv1alpha1.Group, vpnv1alpha1.Version, vpnv1alpha1.KindVPNGateway, vpnv1alpha1.ConditionReady, nil},
	{vpnv1alpha1.Group, vpnv1alpha1.Version, vpnv1alpha1.KindVPNPeer, vpnv1alpha1.ConditionAuthorized, []string{vpnv1alpha1.ReasonNoGrants}},
	{ipsecv1alpha1.Group, ipsecv1alpha1.Version, ipsecv1alpha1.KindIPsecGateway, vpnv1alpha1.ConditionReady, nil},
	{ipsecv1alpha1.Group, ipsecv1alpha1.Version, ipsecv1alpha1.KindClusterLink, vpnv1alpha1.ConditionReady, nil},
}

//go:embed health.lua
var script string

// ArgoCD is a patch for the ConfigMap argocd-cm: one health check in Lua for each kind.
func ArgoCD() string {
	var b strings.Builder
	b.WriteString("# kubectl -n argocd patch configmap argocd-cm --type merge --patch-file FILE\ndata:\n")
	for _, r := range rules {
		fmt.Fprintf(&b, "  resource.customizations.health.%s_%s: |\n", r.group, r.kind)
		for line := range strings.Lines(r.lua()) {
			b.WriteString("    " + line)
		}
	}
	return b.String()
}

func (r rule) lua() string {
	harmless := ""
	for _, reason := range r.harmless {
		harmless += fmt.Sprintf("[%q] = true, ", reason)
	}
	return strings.NewReplacer("CONDITION", r.condition, "HARMLESS", strings.TrimSuffix(harmless, ", ")).Replace(script)
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
	const conditions = `has(status.conditions)`
	is := func(what string) string {
		return fmt.Sprintf(`status.conditions.exists(c, c.type == %q && %s)`, r.condition, what)
	}
	old := `has(c.observedGeneration) && c.observedGeneration < metadata.generation`
	failed, healthy := `c.status == "False"`, `c.status == "True"`
	for _, reason := range r.harmless {
		failed += fmt.Sprintf(` && c.reason != %q`, reason)
		healthy = fmt.Sprintf(`(%s || c.reason == %q)`, healthy, reason)
	}
	return expressions{
		inProgress: fmt.Sprintf(`%s && (!%s || !%s || %s || %s)`, held, conditions, is("true"), is(old), is(`c.status == "Unknown"`)),
		failed:     fmt.Sprintf(`%s && %s && %s`, held, conditions, is(failed)),
		current:    fmt.Sprintf(`!(%s) || %s && %s`, held, conditions, is(healthy)),
	}
}

// held tells whether reconcile keeps the object: only then somebody writes conditions,
// and a status is there. CEL has no way to ask for a status that may be missing.
const held = `has(metadata.finalizers) && metadata.finalizers.exists(f, f.startsWith("vpn.bnerd.net/") || f.startsWith("ipsec.bnerd.net/"))`
