package resource

import (
	"path"
	"strings"
)

// The tree of a GitOps checkout:
//
//	kustomization.yaml                  lists the namespaces; the estate's own
//	<namespace>/kustomization.yaml      lists the gateways; the estate's own
//	<namespace>/<gateway>/kustomization.yaml
//	<namespace>/<gateway>/<kind>-<name>.yaml
//
// What a file is follows from where it lies, so that a file that was damaged is still
// known for what it should be.

// KindKustomization is the kind of the files that list others. They are no Kubernetes
// objects; their name is the folder's.
var KindKustomization = KubernetesKind("Kustomization")

// TreeRoot is the name of the topmost kustomization.
const TreeRoot = "."

const (
	kustomizationFile = "kustomization.yaml"
	fileExtension     = ".yaml"
)

// TreePath is where an object lies: below the folder of its gateway, namespace/name,
// which means nothing for a kustomization.
func TreePath(folder string, id ID) string {
	if id.Kind == KindKustomization {
		return path.Join(id.Namespace, id.Name, kustomizationFile)
	}
	return path.Join(folder, id.Kind.Short()+"-"+id.Name+fileExtension)
}

// TreeID reads a path: the object that lies there, and the folder of the gateway that
// it belongs to, empty for a file of the estate's own. It reports false for a path
// where vpnctl writes nothing.
func TreeID(file string) (id ID, folder string, ok bool) {
	parts := strings.Split(file, "/")
	dir, base := parts[:len(parts)-1], parts[len(parts)-1]
	if base == kustomizationFile {
		switch len(dir) {
		case 0:
			return ID{Kind: KindKustomization, Name: TreeRoot}, "", true
		case 1:
			return ID{Kind: KindKustomization, Name: dir[0]}, "", true
		case 2:
			return ID{Kind: KindKustomization, Namespace: dir[0], Name: dir[1]}, path.Join(dir...), true
		}
	}
	stem, yaml := strings.CutSuffix(base, fileExtension)
	kind, name, named := strings.Cut(stem, "-")
	if len(dir) != 2 || !yaml || !named || kind == "" || name == "" {
		return ID{}, "", false
	}
	id, folder = ID{Kind: KubernetesKind(kind), Namespace: dir[0], Name: name}, path.Join(dir...)
	if TreePath(folder, id) != file { // kustomization-x.yaml, Deployment-x.yaml
		return ID{}, "", false
	}
	return id, folder, true
}
