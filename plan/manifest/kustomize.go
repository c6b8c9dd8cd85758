package manifest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

func kustomizationFile(name string) bool {
	return slices.Contains(konfig.RecognizedKustomizationFileNames(), name)
}

// kustomization returns the path of a directory's kustomization file, or "".
func kustomization(dir string) string {
	for _, name := range konfig.RecognizedKustomizationFileNames() {
		p := filepath.Join(dir, name)
		if info, err := os.Stat(p); err == nil && !info.IsDir() {
			return p
		}
	}
	return ""
}

// kustomize builds a directory in memory. The result has no lines of its own, so
// its diagnostics name the kustomization file alone.
func (s *source) kustomize(dir string) {
	name := kustomization(dir)
	key := absolute(name)
	if s.seen[key] {
		return
	}
	s.seen[key] = true
	s.parts[absolute(dir)] = true
	if s.remote(dir, map[string]bool{}) {
		return
	}
	data, err := build(dir)
	if err != nil {
		s.reading.failFile(name, refuse("building: %v", err))
		return
	}
	s.files = append(s.files, file{name: name, data: data, placeless: true})
}

// build runs kustomize. It is foreign code on foreign input: if it panics, that
// is one more thing to tell.
func build(dir string) (out []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("kustomize stopped: %v", p)
		}
	}()
	objects, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), dir)
	if err != nil {
		return nil, err
	}
	return objects.AsYaml()
}
