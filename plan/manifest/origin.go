package manifest

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/vpnctl/vpnctl/plan/manifest/decode"
)

// built is one object that a kustomization gives.
type built struct {
	data   []byte
	origin string // the file that kustomize took the object from, or ""
}

// traced is a disk on which one kustomization asks for the origin of its objects.
type traced struct {
	filesys.FileSystem
	name string // as kustomize opens it
	text []byte
}

// ReadFile reads a file.
func (t traced) ReadFile(name string) ([]byte, error) {
	if name == t.name {
		return t.text, nil
	}
	return t.FileSystem.ReadFile(name)
}

// trace returns the disk to build a directory on, and whether the question for
// origins has been added: then they are no part of the result.
func trace(dir string) (filesys.FileSystem, bool) {
	disk := files{filesys.MakeFsOnDisk()}
	root, _, err := disk.CleanedAbs(dir)
	if err != nil {
		return disk, false
	}
	name := filepath.Base(kustomization(dir))
	text, err := disk.ReadFile(root.Join(name))
	if err != nil {
		return disk, false
	}
	text, ok := asking(text)
	return traced{disk, root.Join(name), text}, ok
}

// asking adds the question for origins to the text of a kustomization. One that
// speaks of them itself, or where the addition would not be read as one, stays as
// it is.
func asking(text []byte) ([]byte, bool) {
	const question = "buildMetadata"
	docs, problems := decode.Documents(text)
	if len(problems) > 0 || len(docs) != 1 || docs[0].Root.Get(question) != nil {
		return text, false
	}
	longer := slices.Concat(bytes.TrimRight(text, "\n"), []byte("\n"+question+": [originAnnotations]\n"))
	docs, problems = decode.Documents(longer)
	if len(problems) > 0 || len(docs) != 1 || docs[0].Root.Get(question) == nil {
		return text, false
	}
	return longer, true
}

// origin takes the origin off an object, as a path like dir.
func origin(r *resource.Resource, dir string) (string, error) {
	from, err := r.GetOrigin()
	if err != nil || from == nil || from.Path == "" || from.Repo != "" {
		return "", r.SetOrigin(nil)
	}
	return filepath.Join(dir, from.Path), r.SetOrigin(nil)
}

// base finds the document that a built object was made from, in the file of its
// origin: the one of its kind and name. Kustomize may have changed the name.
func (r *reading) base(origin string, built *decode.Value) *object {
	if origin == "" {
		return nil
	}
	docs, known := r.bases[origin]
	if !known {
		if data, err := content(origin); err == nil {
			docs, _ = decode.Documents(data)
		}
		if r.bases == nil {
			r.bases = map[string][]decode.Document{}
		}
		r.bases[origin] = docs
	}
	d := ancestor(docs, built)
	return &object{file: origin, document: d.Index, root: d.Root}
}

// ancestor picks a document, or none where it could be more than one.
func ancestor(docs []decode.Document, built *decode.Value) decode.Document {
	name := text(built.Find("metadata.name"))
	var kin, within []decode.Document
	for _, d := range docs {
		if text(d.Root.Get("kind")) != text(built.Get("kind")) {
			continue
		}
		old := text(d.Root.Find("metadata.name"))
		if old == name {
			return d
		}
		kin = append(kin, d)
		if old != "" && strings.Contains(name, old) {
			within = append(within, d)
		}
	}
	switch {
	case len(kin) == 1:
		return kin[0]
	case len(within) == 1:
		return within[0]
	}
	return decode.Document{}
}

// text of a scalar, or "".
func text(v *decode.Value) string {
	if v == nil {
		return ""
	}
	return v.Text
}

// origin is the place of a field in the file that kustomize took the object from.
// A field that was changed on the way is nobody's but the kustomization's.
func (o *object) origin(field string) Position {
	switch {
	case o.base == nil:
		return Position{File: o.file}
	case o.base.root == nil:
		return Position{File: o.base.file}
	case field != "" && !o.root.Find(field).Equal(o.base.root.Find(field)):
		return Position{File: o.file}
	}
	return o.base.position(field)
}

// asRead is the object at the kustomization that gave it: of two that came from one
// place, that is what differs.
func (o *object) asRead() *object {
	out := *o
	out.base = nil
	return &out
}
