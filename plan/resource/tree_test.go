package resource

import "testing"

func TestTreePathIsReadBack(t *testing.T) {
	for file, want := range map[string]ID{
		"kustomization.yaml":                     {KindKustomization, "", TreeRoot},
		"acme/kustomization.yaml":                {KindKustomization, "", "acme"},
		"acme/dc1/kustomization.yaml":            {KindKustomization, "acme", "dc1"},
		"acme/dc1/configmap-dc1-nat.yaml":        {KubernetesKind("ConfigMap"), "acme", "dc1-nat"},
		"acme/dc1/vpnpeer-plant1.yaml":           {KubernetesKind("VPNPeer"), "acme", "plant1"},
		"acme/dc1/deployment-kustomization.yaml": {KubernetesKind("Deployment"), "acme", "kustomization"},
	} {
		got, folder, ok := TreeID(file)
		if got != want || !ok {
			t.Errorf("%s is read as %v %v, want %v", file, got, ok, want)
		}
		if back := TreePath(folder, got); back != file {
			t.Errorf("%s came back as %s", file, back)
		}
	}
}

func TestPathsWhereNothingIsWritten(t *testing.T) {
	for _, file := range []string{
		"", "README.md", "acme/README.md", "acme/dc1/deployment.yaml", "acme/dc1/deployment-.yaml", "acme/dc1/-dc1.yaml",
		"acme/deployment-dc1.yaml", "a/b/c/kustomization.yaml", "acme/dc1/x/deployment-dc1.yaml", "acme/dc1/deployment-dc1.yml",
		"acme/dc1/kustomization-dc1.yaml", "acme/dc1/Deployment-dc1.yaml", "acme/../dc1/deployment-dc1.yaml",
	} {
		if id, _, ok := TreeID(file); ok {
			t.Errorf("%q is read as %v", file, id)
		}
	}
}
