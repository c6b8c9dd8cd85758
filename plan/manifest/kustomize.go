package manifest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/types"

	"github.com/vpnctl/vpnctl/plan/manifest/decode"
)

func kustomizationFile(name string) bool {
	return slices.Contains(konfig.RecognizedKustomizationFileNames(), name)
}

// kustomization returns the path of a directory's kustomization file, or "".
func kustomization(dir string) string {
	for _, name := range konfig.RecognizedKustomizationFileNames() {
		p := filepath.Join(dir, name)
		if info, err := os.Stat(p); err == nil && info.Mode().IsRegular() {
			return p
		}
	}
	return ""
}

// kustomize builds a directory in memory. The result has no lines of its own: its
// diagnostics name the places that its objects come from, or the kustomization.
func (s *source) kustomize(dir string) {
	name := kustomization(dir)
	key := s.key(name)
	if s.seen[key] {
		return
	}
	s.seen[key] = true
	s.parts[s.key(dir)] = true
	if s.remote(dir, map[string]bool{}) || s.fetches(dir) {
		return
	}
	objects, err := build(dir)
	if err != nil {
		s.reading.unbuilt(name, err)
		return
	}
	s.files = append(s.files, file{name: name, built: objects, placeless: true})
}

var unknownField = regexp.MustCompile(`^invalid Kustomization: json: unknown field "([^"]+)"$`)

// unbuilt reports what kustomize says. It gives no line; for a field that it doesn't
// know, the line is that of the field.
func (r *reading) unbuilt(name string, err error) {
	o := &object{file: name}
	slip := unknownField.FindStringSubmatch(err.Error())
	if data, err := content(name); err == nil && slip != nil {
		if docs, _ := decode.Documents(data); len(docs) == 1 {
			o.root = docs[0].Root
		}
	}
	if slip == nil || o.root.Get(slip[1]) == nil {
		r.failFile(name, refuse("building: %v", err))
		return
	}
	var known []string
	for _, p := range r.decoder.Places(new(types.Kustomization)) {
		if !strings.Contains(p.Path, ".") {
			known = append(known, p.Path)
		}
	}
	check{o, &r.found}.fail(slip[1], refuse(decode.NoSuchField).did(slip[1], known))
}

// build runs kustomize. It is foreign code on foreign input: if it panics, that
// is one more thing to tell.
func build(dir string) (out []built, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("kustomize stopped: %v", p)
		}
	}()
	disk, ours := trace(dir)
	objects, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(disk, dir)
	if err != nil {
		return nil, err
	}
	for _, r := range objects.Resources() {
		var b built
		if ours {
			if b.origin, err = origin(r, dir); err != nil {
				return nil, err
			}
		}
		if b.data, err = r.AsYAML(); err != nil {
			return nil, err
		}
		out = append(out, b)
	}
	return out, nil
}
