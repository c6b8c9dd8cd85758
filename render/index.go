package render

import (
	"path"
	"slices"
	"strings"

	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/render/yaml"
	"github.com/vpnctl/vpnctl/state"
)

const kustomizeVersion = "kustomize.config.k8s.io/v1beta1"

// kustomization lists the files of one gateway's folder.
func (r *rendering) kustomization(objects []resource.Object) resource.Object {
	var files []string
	for _, o := range objects {
		files = append(files, path.Base(o.Path))
	}
	o := r.in.Gateway.Owner
	return kustomization(r.in.Estate.Name, o, r.id(resource.KindKustomization), files)
}

// Index returns the files of the tree that list its folders: one for each namespace,
// and the topmost, which Flux or Argo CD is pointed at. They belong to the estate
// itself. Owners are the gateways that stand in the tree, in any order. Without any the
// topmost file stays and lists nothing: a sync of a path that is gone is an error and
// would leave the last pods running.
func Index(estate string, owners []vpn.Owner) []resource.Resource {
	namespaces := map[string][]vpn.Owner{}
	for _, o := range owners {
		namespaces[o.Namespace] = append(namespaces[o.Namespace], o)
	}
	var all []resource.Resource
	var folders []string
	var needs []resource.ID
	for namespace, owners := range namespaces {
		var gateways []string
		var below []resource.ID
		for _, o := range owners {
			gateways = append(gateways, o.Name)
			below = append(below, resource.ID{Kind: resource.KindKustomization, Namespace: namespace, Name: o.Name})
		}
		r := indexFile(estate, namespace, gateways, below)
		all, folders, needs = append(all, r), append(folders, namespace), append(needs, r.ID)
	}
	all = append(all, indexFile(estate, resource.TreeRoot, folders, needs))
	slices.SortFunc(all, func(a, b resource.Resource) int { return a.ID.Compare(b.ID) })
	return all
}

func indexFile(estate, folder string, entries []string, needs []resource.ID) resource.Resource {
	slices.SortFunc(needs, resource.ID.Compare)
	id := resource.ID{Kind: resource.KindKustomization, Name: folder}
	o := kustomization(estate, vpn.Owner{}, id, entries)
	return resource.Resource{ID: id, Needs: needs, Object: &o}
}

// kustomization writes one file. It has no metadata: what it is follows from where
// it lies.
func kustomization(estate string, owner vpn.Owner, id resource.ID, entries []string) resource.Object {
	slices.Sort(entries)
	var b strings.Builder
	b.WriteString(state.Marker(estate, owner) + "\napiVersion: " + kustomizeVersion + "\nkind: Kustomization\nresources:")
	if len(entries) == 0 {
		b.WriteString(" []")
	}
	b.WriteString("\n")
	for _, e := range slices.Compact(entries) {
		b.WriteString("- " + yaml.Scalar(e) + "\n")
	}
	return resource.Object{
		APIVersion: kustomizeVersion, Kind: "Kustomization", Namespace: id.Namespace, Name: id.Name,
		Path: resource.TreePath("", id), Content: b.String(),
	}
}
