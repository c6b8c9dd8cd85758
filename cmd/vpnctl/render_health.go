package main

import (
	"io"

	"github.com/vpnctl/vpnctl/render/health"
)

type renderHealth struct {
	Engine string `arg:"" enum:"argocd,flux" help:"argocd or flux."`
}

// Help is what --help adds.
func (renderHealth) Help() string {
	return `Without these rules both engines take a gateway for healthy as soon as its manifest is there. With them, one is healthy when its condition Ready says so of the manifest at hand, and so is each peer. A tunnel that is down is no fault of what was synced. Where CI applies and nobody writes conditions, a manifest is healthy as it stands.

argocd is a patch for the ConfigMap argocd-cm, with a check in Lua for each kind:

    vpnctl render health argocd > health.yaml
    kubectl -n argocd patch configmap argocd-cm --type merge --patch-file health.yaml

flux is a patch for the Kustomization that syncs the gateways, with healthCheckExprs in CEL; its text may stand in the Kustomization's own file as well:

    vpnctl render health flux > health.yaml
    kubectl -n flux-system patch kustomization gateways --type merge --patch-file health.yaml`
}

func (c renderHealth) Run(s *streams) error {
	text := map[string]func() string{"argocd": health.ArgoCD, "flux": health.Flux}[c.Engine]()
	_, err := io.WriteString(s.stdout, text)
	return err
}
