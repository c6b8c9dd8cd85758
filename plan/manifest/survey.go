package manifest

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	estatev1alpha1 "github.com/vpnctl/vpnctl/crds/estate/v1alpha1"
	ipsecv1alpha1 "github.com/vpnctl/vpnctl/crds/ipsec/v1alpha1"
	vpnv1alpha1 "github.com/vpnctl/vpnctl/crds/vpn/v1alpha1"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// survey looks for manifests that were not read, below the Estate's folder and in the
// folders that were searched: what one of them describes isn't gone, it was only left
// out. Everything there counts that a folder would be searched for, and
//
//	the files of kustomizations   as they stand and as they are built
//	hidden files and folders      as far as they can be read: they may be named
//	a single file that vpnctl     which people may write now
//	has rendered
//
// What can't be read or lies elsewhere may hold anybody's manifest.
type survey struct {
	read   *source
	loaded *Loaded
	owners map[vpn.Owner]bool // that were read
	peers  map[string]bool    // namespace/gateway/peer that were read
	skip   []string           // kustomizations that were not built
	root   string             // the folder that is being looked through
}

// survey fills in what Loaded says about what was not read.
func (r *reading) survey(src *source, loaded *Loaded) {
	v := &survey{read: src, loaded: loaded, owners: map[vpn.Owner]bool{}, peers: map[string]bool{}}
	for _, g := range loaded.Estate.Gateways {
		v.owners[g.Owner] = true
		for _, p := range g.Peers {
			v.peers[peerPath(g.Owner.Namespace, g.Owner.Name, p.Name)] = true
		}
	}
	for _, l := range loaded.Estate.Links {
		v.owners[l.Owner] = true
	}
	for _, root := range v.roots() {
		v.folder(root)
	}
	slices.Sort(loaded.Obscure)
	loaded.Obscure = slices.Compact(loaded.Obscure)
}

// roots are the folders to look through: the Estate's, and those that were searched
// outside of it, or where it is hidden.
func (v *survey) roots() []string {
	out := []string{v.loaded.Root}
	for _, root := range v.read.roots() {
		if !v.read.reaches(root, out, hidden) {
			out = append(out, root)
		}
	}
	return out
}

// folder looks through a folder by the rules of walk, and into what is hidden.
func (v *survey) folder(root string) {
	v.root, v.skip = root, nil
	v.submodulesAbove(root)
	err := filepath.WalkDir(inside(root), func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			v.obscure(p)
			return skip(d)
		case d.IsDir() && p != inside(root) && v.notOurs(p):
			return fs.SkipDir
		case d.IsDir():
			if kustomization(p) != "" && !v.read.parts[v.read.key(p)] {
				v.skip = append(v.skip, filepath.Clean(p))
			}
		case elsewhere(p, d):
			v.link(p)
		case d.Name() == submoduleFile:
			v.submodules(p)
		case wanted(p):
			v.file(p)
		}
		return nil
	})
	if err != nil {
		v.obscure(root)
	}
	v.kustomizations()
}

// notOurs tells whether a folder holds nobody's manifests: the repository's own
// records, what vpnctl has written, and what is hidden and another Estate's.
func (v *survey) notOurs(p string) bool {
	return filepath.Base(p) == ".git" || v.read.isOutput(p) || ownFolder(p) != "" ||
		v.hidden(p) && exists(filepath.Join(p, estatev1alpha1.FileName))
}

func (v *survey) hidden(p string) bool {
	rel, err := filepath.Rel(v.root, p)
	return err == nil && hidden(rel)
}

// link minds a link to a folder, or to nowhere, unless that is looked through anyway.
func (v *survey) link(p string) {
	if v.read.isOutput(p) || ownFolder(p) != "" {
		return
	}
	if _, err := os.Stat(p); err != nil || !v.read.reaches(p, v.roots(), func(string) bool { return false }) {
		v.obscure(p)
	}
}

// file looks into a file, unless it was read or a kustomization that was built is
// made of it.
func (v *survey) file(p string) {
	key := v.read.key(p)
	if v.read.seen[key] || v.read.parts[key] {
		return
	}
	data, err := content(p)
	switch {
	case noManifest(p, data) != "":
	case err != nil || isStub(data):
		v.obscure(p)
	case mentions(data):
		v.documents(file{name: filepath.Clean(p), data: data})
	}
}

// documents notes down whom the documents of a file describe.
func (v *survey) documents(f file) {
	r := &reading{decoder: v.read.reading.decoder}
	f.built = slices.DeleteFunc(f.built, func(b built) bool { return isRendered(beginning(b.origin)) })
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

// obscure notes down what can't be read. What is hidden counts only by what is found in
// it: much of it is other programs'.
func (v *survey) obscure(p string) {
	if !v.hidden(p) {
		v.loaded.Obscure = append(v.loaded.Obscure, filepath.Clean(p))
	}
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
