package manifest

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/vpnctl/vpnctl/plan/manifest/decode"
)

// remote refuses a kustomization that would fetch something: reading manifests
// touches no network, and what a plan depends on stands in the repository. It
// follows local directories and reports true when it has refused one.
func (s *source) remote(dir string, seen map[string]bool) bool {
	name := kustomization(dir)
	if name == "" || seen[name] || len(seen) > mostLooks {
		return false
	}
	seen[name] = true
	data, err := content(name)
	if err != nil {
		return false // kustomize says it better
	}
	docs, _ := decode.Documents(data)
	found := false
	for _, doc := range docs {
		s.patches(dir, doc.Root)
		for _, list := range doc.Root.Fields {
			if slices.Contains(references, strings.ToLower(list.Name)) {
				found = s.entries(dir, doc.Index, list, seen) || found
			}
		}
	}
	return found
}

// entries follows what one list of a kustomization names, and reports true when it has
// refused an entry.
func (s *source) entries(dir string, doc int, list decode.Field, seen map[string]bool) bool {
	found := false
	for i, entry := range list.Value.Items {
		if entry.Kind != decode.String || inline(entry.Text) {
			continue
		}
		path := filepath.Join(dir, entry.Text)
		s.parts[s.key(path)] = true
		if no := unfit(entry, path); no != nil {
			s.reading.found = append(s.reading.found, at(kustomization(dir), doc, fmt.Sprintf("%s[%d]", list.Name, i), entry, no))
			found = true
			continue
		}
		found = s.remote(path, seen) || found
	}
	return found
}

// references are the lists of a kustomization that may name another place. Kustomize
// reads the names of fields in any case.
var references = []string{
	"resources", "components", "bases", "crds", "configurations", "generators", "transformers", "validators",
}

var patching = []string{"patches", "patchesjson6902", "patchesstrategicmerge", "replacements"}

// patches remembers the files that a kustomization patches its objects from.
func (s *source) patches(dir string, root *decode.Value) {
	for _, list := range root.Fields {
		if !slices.Contains(patching, strings.ToLower(list.Name)) {
			continue
		}
		for _, entry := range list.Value.Items {
			if path := cmp.Or(entry.Get("path"), entry); path.Kind == decode.String && !inline(path.Text) {
				s.parts[s.key(filepath.Join(dir, path.Text))] = true
			}
		}
	}
}

// inline tells whether an entry is a whole object in place of its name.
func inline(entry string) bool { return strings.Contains(entry, "\n") }

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// unfit says why nothing can be built from an entry: it isn't here, or vpnctl has
// rendered it.
func unfit(entry *decode.Value, path string) *refusal {
	switch {
	case !exists(path):
		return refuse("%s is not a file or folder here", quoted(entry.Text)).with("what lies elsewhere is not fetched; keep a copy in the repository")
	case renderedTree(path):
		return refuse("%s is "+treeRendered, quoted(entry.Text)).with(nameOthers)
	case isRendered(beginning(path)):
		return refuse("%s is "+fileRendered, quoted(entry.Text)).with(writtenNow)
	}
	return nil
}

func at(name string, doc int, field string, entry *decode.Value, no *refusal) Diagnostic {
	return Diagnostic{
		File: name, Line: entry.Line, Column: entry.Column, Document: doc, Field: field, Severity: Error,
		Message: no.message, Hint: no.hint,
	}
}

// leftOut warns about kustomizations below a folder that was searched, which are
// neither built nor part of one that is.
func (s *source) leftOut(w walked) {
	rest := slices.DeleteFunc(slices.Clone(w.skipped), func(dir string) bool { return s.parts[s.key(dir)] })
	rest = s.outermost(rest)
	switch {
	case len(rest) == 0:
	case w.files > 0:
		for _, dir := range rest {
			s.reading.warnFile(dir, refuse("holds a kustomization, which is built only when it is named").with("name it, or leave it out"))
		}
	default:
		no := refuse("holds kustomizations, which are built only when they are named").with("name %s", choice(rest))
		if s.estate == "" { // their Estates lie in them
			s.reading.failFile(w.root, no)
		} else {
			s.reading.warnFile(w.root, no)
		}
	}
}

// outermost drops the kustomizations that others of them are made of.
func (s *source) outermost(dirs []string) []string {
	parts := map[string]bool{}
	for _, dir := range dirs {
		maps.Copy(parts, partsOf(dir))
	}
	out := slices.DeleteFunc(slices.Clone(dirs), func(dir string) bool { return parts[s.key(dir)] })
	if len(out) == 0 { // they go round in a circle
		return dirs
	}
	return out
}

// partsOf are the keys of what a kustomization is made of, at any depth.
func partsOf(dir string) map[string]bool {
	s := (&reading{decoder: new(decode.Decoder)}).source(nil)
	s.remote(dir, map[string]bool{})
	return s.parts
}

// choice writes some names as the choice between them.
func choice(names []string) string {
	const most = 5
	if len(names) > most {
		return "one of " + strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", len(names)-most)
	}
	last := len(names) - 1
	if last == 0 {
		return names[0]
	}
	return strings.Join(names[:last], ", ") + " or " + names[last]
}
