package manifest

import (
	"errors"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	ipsecv1alpha1 "github.com/vpnctl/vpnctl/crds/ipsec/v1alpha1"
	vpnv1alpha1 "github.com/vpnctl/vpnctl/crds/vpn/v1alpha1"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// survey looks for manifests below the Estate's folder that were not read: what
// one of them describes isn't gone, it was only not named. Everything there counts
// that a folder would be searched for, the files of kustomizations too, as they
// stand and as they are built.
type survey struct {
	read   *source
	loaded *Loaded
	owners map[vpn.Owner]bool // that were read
	peers  map[string]bool    // namespace/gateway/peer that were read
	skip   []string           // kustomizations that were not built
	names  map[string]bool    // absolute paths of files that may hold manifests
}

// survey fills in what Loaded says about files that were not read.
func (r *reading) survey(src *source, loaded *Loaded) {
	v := &survey{read: src, loaded: loaded, owners: map[vpn.Owner]bool{}, peers: map[string]bool{}, names: map[string]bool{}}
	for _, g := range loaded.Estate.Gateways {
		v.owners[g.Owner] = true
		for _, p := range g.Peers {
			v.peers[peerPath(g.Owner.Namespace, g.Owner.Name, p.Name)] = true
		}
	}
	for _, l := range loaded.Estate.Links {
		v.owners[l.Owner] = true
	}
	if v.complete() {
		return
	}
	v.folder(loaded.Root)
	for _, dir := range outermost(v.skip) {
		v.build(dir)
	}
	slices.Sort(loaded.Obscure)
	loaded.Obscure = slices.Compact(loaded.Obscure)
}

// complete tells whether one of the folders that were searched is the Estate's, or
// holds it, and nothing in it was left out.
func (v *survey) complete() bool {
	return slices.ContainsFunc(v.read.walks, func(w walked) bool {
		return len(w.skipped) == 0 && contains(absolute(w.root), absolute(v.loaded.Root))
	})
}

// folder looks through a folder by the rules of walk.
func (v *survey) folder(root string) {
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			v.obscure(p)
			if d != nil && d.IsDir() {
				return fs.SkipDir
			}
		case p != root && strings.HasPrefix(d.Name(), "."):
			return skip(d)
		case d.IsDir() && p != root && (v.read.isOutput(p) || ownFolder(p) != ""):
			return fs.SkipDir
		case d.IsDir() && kustomization(p) != "" && !v.read.parts[absolute(p)]:
			v.skip = append(v.skip, p)
		case !d.IsDir() && wanted(p):
			v.file(p)
		}
		return nil
	})
	if err != nil {
		v.obscure(root)
	}
}

// file looks into a file, unless it was read or a kustomization that was built is
// made of it.
func (v *survey) file(p string) {
	key := absolute(p)
	if v.read.seen[key] || v.read.parts[key] {
		return
	}
	data, err := content(p)
	switch {
	case errors.Is(err, errNotRegular): // a link to a folder, a pipe
	case err != nil:
		v.obscure(p)
	case noManifest(p, data) == "" && !isRendered(data) && mentions(data):
		v.names[key] = true
		v.documents(file{name: filepath.Clean(p), data: data})
	}
}

// build builds a kustomization that was not named, where a file that it is made of
// may hold manifests: it may give them other names.
func (v *survey) build(dir string) {
	parts := slices.Collect(maps.Keys(partsOf(dir)))
	if !slices.ContainsFunc(parts, func(p string) bool { return v.names[p] || v.read.seen[p] || v.read.parts[p] }) {
		return
	}
	objects, err := build(dir)
	if err != nil {
		v.obscure(kustomization(dir))
		return
	}
	v.documents(file{name: kustomization(dir), built: objects, placeless: true})
}

// documents notes down whom the documents of a file describe.
func (v *survey) documents(f file) {
	r := &reading{decoder: v.read.reading.decoder}
	for _, o := range r.documents(f) {
		v.object(o)
	}
	if r.broken {
		v.obscure(f.name)
	}
}

func (v *survey) object(o *object) {
	owner := vpn.Owner{Kind: o.kind, Namespace: o.namespace, Name: o.name}
	switch o.kind {
	case vpnv1alpha1.KindVPNPeer:
		if ref := o.root.Find("spec.gatewayRef"); ref != nil {
			v.peer(peerPath(o.namespace, ref.Text, o.name), o.file)
		}
	case ipsecv1alpha1.KindIPsecGateway:
		if v.owner(owner, o.file) {
			for _, name := range tunnels(o) {
				v.peer(peerPath(o.namespace, o.name, name), o.file)
			}
		}
	case vpnv1alpha1.KindVPNGateway, ipsecv1alpha1.KindClusterLink:
		v.owner(owner, o.file)
	}
}

// owner notes down an owner that was not read, and tells whether it is one.
func (v *survey) owner(o vpn.Owner, file string) bool {
	if v.owners[o] {
		return false
	}
	if _, known := v.loaded.Unread[o]; !known {
		v.loaded.Unread[o] = file
	}
	return true
}

func (v *survey) peer(path, file string) {
	if _, known := v.loaded.UnreadPeers[path]; !known && !v.peers[path] {
		v.loaded.UnreadPeers[path] = file
	}
}

func (v *survey) obscure(p string) {
	v.loaded.Obscure = append(v.loaded.Obscure, filepath.Clean(p))
}

// tunnels are the names of the tunnels of an IPsecGateway.
func tunnels(o *object) []string {
	var out []string
	if list := o.root.Find("spec.tunnels"); list != nil {
		for _, t := range list.Items {
			if name := t.Get("name"); name != nil {
				out = append(out, name.Text)
			}
		}
	}
	return out
}

func peerPath(namespace, gateway, peer string) string { return namespace + "/" + gateway + "/" + peer }
