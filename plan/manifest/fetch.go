package manifest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/vpnctl/vpnctl/plan/manifest/decode"
)

// fetching looks for what kustomize would fetch, before it runs: it has no way to be
// told not to. It reads field names in any case, so that the names are not relied on:
//
//	an address anywhere                               refused
//	one among texts that kustomize only copies        stays
//	a place that looks like a repository, in a list
//	of places, though a folder of that name is there  refused: kustomize would clone
//	a folder with a kustomization, wherever named     looked at as well
//	a file of a generator, transformer or validator   looked at as well
type fetching struct {
	*source
	seen  map[look]bool
	found bool
}

// look is one file as one of two things.
type look struct {
	name       string
	configures bool
}

// mostLooks bounds what one kustomization can name.
const mostLooks = 1000

// fetches tells whether a kustomization was refused for what it would fetch.
func (s *source) fetches(dir string) bool {
	f := &fetching{source: s, seen: map[look]bool{}}
	f.folder(dir, false)
	return f.found
}

// folder looks at a folder's kustomization. Configures tells that its resources are
// generators, transformers or validators themselves.
func (f *fetching) folder(dir string, configures bool) {
	if name := kustomization(dir); name != "" {
		f.file(name, configures)
	}
}

func (f *fetching) file(name string, configures bool) {
	if f.seen[look{name, configures}] || f.found && len(f.seen) > mostLooks {
		return
	}
	f.seen[look{name, configures}] = true
	if len(f.seen) > mostLooks {
		f.found = true
		f.reading.failFile(name, refuse("the kustomization is made of more than %d files, so that it is not known whether it would fetch one", mostLooks))
		return
	}
	data, err := content(name)
	if err != nil {
		return // kustomize says it better
	}
	docs, problems := decode.Documents(data)
	if len(problems) > 0 && (bytes.Contains(data, []byte("://")) || repository.Match(data)) {
		f.found = true
		f.reading.failFile(name, refuse("line %d: %s: it may name an address, which is not fetched", problems[0].Line, problems[0].Message))
		return
	}
	for _, doc := range docs {
		f.value(place{file: name, doc: doc.Index, configures: configures}, doc.Root)
	}
}

// place is where a value stands.
type place struct {
	file       string
	doc        int
	field      string
	list       string // the topmost field, in lower case
	configures bool
}

// copied are the fields whose texts kustomize never takes for a place.
var copied = []string{"literals", "commonAnnotations", "commonLabels", "annotations", "labels", "patch"}

func (f *fetching) value(at place, v *decode.Value) {
	switch v.Kind {
	case decode.List:
		for i, item := range v.Items {
			below := at
			below.field += fmt.Sprintf("[%d]", i)
			f.value(below, item)
		}
	case decode.Map:
		for _, field := range v.Fields {
			if slices.Contains(copied, field.Name) {
				continue
			}
			below := at
			if at.field == "" {
				below.field, below.list = field.Name, strings.ToLower(field.Name)
			} else {
				below.field += "." + field.Name
			}
			f.value(below, field.Value)
		}
	case decode.String:
		f.text(at, v)
	}
}

// repository matches what kustomize takes for a Git repository without a scheme.
var repository = regexp.MustCompile(`(?i)^\s*(git::|github\.com[/:]|[a-z][a-z0-9-]*@)`)

func (f *fetching) text(at place, v *decode.Value) {
	places := slices.Contains(references, at.list)
	switch {
	case at.list == "patchesstrategicmerge" && inline(v.Text):
	case strings.Contains(v.Text, "://"), places && repository.MatchString(v.Text):
		f.found = true
		f.reading.found = append(f.reading.found, Diagnostic{
			File: at.file, Line: v.Line, Column: v.Column, Document: at.doc, Field: at.field, Severity: Error,
			Message: fmt.Sprintf("%s lies elsewhere, and is not fetched", quoted(v.Text)),
			Hint:    "keep a copy in the repository",
		})
	case !inline(v.Text):
		f.follow(at, filepath.Join(filepath.Dir(at.file), v.Text))
	}
}

// follow looks at what a text names, where it is there.
func (f *fetching) follow(at place, path string) {
	info, err := os.Stat(path)
	configures := at.configures || slices.Contains([]string{"generators", "transformers", "validators"}, at.list)
	switch {
	case err != nil:
	case info.IsDir():
		f.folder(path, configures)
	case configures && info.Mode().IsRegular():
		f.file(path, configures)
	}
}
