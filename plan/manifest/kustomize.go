package manifest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/vpnctl/vpnctl/plan/manifest/decode"
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
	key, err := filepath.Abs(name)
	if err != nil || s.seen[key] {
		return
	}
	s.seen[key] = true
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

// remote refuses a kustomization that would fetch something: reading manifests
// touches no network, and what a plan depends on stands in the repository. It
// follows local directories and reports true when it has refused one.
func (s *source) remote(dir string, seen map[string]bool) bool {
	name := kustomization(dir)
	if name == "" || seen[name] || len(seen) > 1000 {
		return false
	}
	seen[name] = true
	data, err := os.ReadFile(name)
	if err != nil {
		return false // kustomize says it better
	}
	docs, _ := decode.Documents(data)
	found := false
	for _, doc := range docs {
		for _, list := range references {
			entries := doc.Root.Get(list)
			if entries == nil {
				continue
			}
			for i, entry := range entries.Items {
				path := filepath.Join(dir, entry.Text)
				if entry.Kind == decode.String && !inline(entry.Text) && !exists(path) {
					s.reading.found = append(s.reading.found, absent(name, doc.Index, fmt.Sprintf("%s[%d]", list, i), entry))
					found = true
					continue
				}
				found = s.remote(path, seen) || found
			}
		}
	}
	return found
}

// references are the lists of a kustomization that may name another place.
var references = []string{
	"resources", "components", "bases", "crds", "configurations", "generators", "transformers", "validators",
}

// inline tells whether an entry is a whole object in place of its name.
func inline(entry string) bool { return strings.Contains(entry, "\n") }

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func absent(name string, doc int, field string, entry *decode.Value) Diagnostic {
	return Diagnostic{
		File: name, Line: entry.Line, Column: entry.Column, Document: doc, Field: field, Severity: Error,
		Message: fmt.Sprintf("%s is not a file or folder here", quoted(entry.Text)),
		Hint:    "what lies elsewhere is not fetched; keep a copy in the repository",
	}
}
