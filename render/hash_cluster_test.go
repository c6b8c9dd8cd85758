package render_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	kjson "k8s.io/apimachinery/pkg/util/json"

	"github.com/vpnctl/vpnctl/crds/admission"
	"github.com/vpnctl/vpnctl/plan/manifest"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/render"
)

// shortest is a gateway that leaves all to the server that it can.
const shortest = `apiVersion: vpn.bnerd.net/v1alpha1
kind: VPNGateway
metadata: {name: remote, namespace: globex}
spec:
  protocol: wireguard
  wireguard: {}
  exposures: [{name: web, target: {address: 10.0.0.1, ports: [443]}}]
`

// TestHashOfAManifestInACluster: whoever reads a manifest from a file, and whoever reads
// what the server has made of it, mean the same, in every example.
func TestHashOfAManifestInACluster(t *testing.T) {
	server, err := admission.New()
	if err != nil {
		t.Fatal(err)
	}
	short := t.TempDir()
	estateFile, err := os.ReadFile("../examples/globex/vpnctl.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"vpnctl.yaml": string(estateFile), "gateway.yaml": shortest} {
		if err := os.WriteFile(filepath.Join(short, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for example, dir := range map[string]string{"acme": "../examples/acme", "globex": "../examples/globex", "initech": "../examples/initech",
		"in-cluster": "../examples/in-cluster", "one that leaves defaults out": short} {
		file := dir + "/vpnctl.yaml"
		loaded, found := manifest.Load([]string{dir}, manifest.Options{EstateFile: file})
		if found.Errors() > 0 || len(loaded.Estate.Gateways) == 0 {
			t.Fatalf("%s: %v", example, found)
		}
		var held []manifest.Standing
		defaulted := 0
		for _, g := range loaded.Estate.Gateways {
			for _, m := range g.Manifests {
				var object map[string]any
				if err := kjson.Unmarshal([]byte(m.JSON), &object); err != nil {
					t.Fatal(err)
				}
				object["metadata"].(map[string]any)["namespace"] = m.Namespace
				stored, refused := server.Request(object, nil)
				if len(refused) > 0 {
					t.Fatalf("%s: %s is refused: %v", example, m.Name, refused)
				}
				stored["metadata"].(map[string]any)["annotations"] = map[string]any{ // as apply and an engine write them
					resource.OwnerAnnotation: g.Owner.String(), "argocd.argoproj.io/tracking-id": "gateways:" + m.Name,
				}
				data, err := json.Marshal(stored)
				if err != nil {
					t.Fatal(err)
				}
				if before, _ := json.Marshal(object); !bytes.Equal(before, data) {
					defaulted++
				}
				held = append(held, manifest.Standing{Kind: m.Kind, Namespace: m.Namespace, Name: m.Name, JSON: data})
			}
		}
		if dir == short && defaulted == 0 {
			t.Errorf("%s: the server fills nothing in, so this tells nothing", example)
		}
		there, wrong := manifest.FromCluster(file, held)
		if wrong.Errors() > 0 || len(there.Invalid) > 0 {
			t.Fatalf("%s: %v %v", example, wrong, there.Invalid)
		}
		estate := loaded.Estate
		estate.Kubernetes = vpn.Kubernetes{Target: vpn.TargetCluster}
		for _, g := range there.Estate.Gateways {
			written, _ := estate.Gateway(g.Owner.Path())
			a, b := render.Hash(render.Input{Estate: estate, Gateway: written}), render.Hash(render.Input{Estate: estate, Gateway: g})
			if a != b {
				x, _ := json.Marshal(written)
				y, _ := json.Marshal(g)
				t.Errorf("%s: %s in files and in a cluster differ:\n%s\n%s", example, g.Owner, x, y)
			}
		}
	}
}
