package manifest

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/vpnctl/vpnctl/plan/manifest/decode"
)

// kustomizations builds those that were not named: what they give has other names than
// their files say, and their files may lie elsewhere.
func (v *survey) kustomizations() {
	outer := v.read.outermost(v.skip)
	for _, dir := range v.skip {
		err := v.build(dir)
		if err && slices.Contains(outer, dir) { // a component alone need not make sense
			v.obscure(kustomization(dir))
		}
	}
}

// build notes down whom the objects of a kustomization describe. It reports true where
// it isn't known which they are.
//
//	what it is made of                     → result
//	speaks nowhere of our kinds            → nothing
//	is here                                → what it gives, true where it can't be built
//	isn't all here, or would be fetched    → true
func (v *survey) build(dir string) bool {
	m := material{decoder: v.read.reading.decoder}
	m.look(dir)
	switch {
	case m.missing:
		return true
	case !m.ours:
		return false
	}
	objects, err := build(dir)
	if err != nil {
		return true
	}
	v.documents(file{name: kustomization(dir), built: objects, placeless: true})
	return false
}

// material is what a kustomization is made of.
type material struct {
	decoder *decode.Decoder
	ours    bool // it may hold manifests of ours
	missing bool // it isn't all here
}

// inflating are the fields by which a kustomization takes in objects from a chart.
var inflating = []string{"helmcharts", "helmchartinflationgenerator"}

// look looks at a kustomization and all that it names.
func (m *material) look(dir string) {
	s := (&reading{decoder: m.decoder}).source(nil)
	seen := map[string]bool{}
	s.remote(dir, seen)
	m.missing = s.fetches(dir) || len(seen) > mostLooks
	m.file(kustomization(dir))
	for _, p := range slices.Sorted(maps.Keys(s.parts)) {
		switch info, err := os.Stat(p); {
		case err != nil:
			m.missing = true
		case renderedTree(p):
		case info.IsDir() && kustomization(p) != "":
			m.file(kustomization(p))
		case info.IsDir():
			m.missing = true
		default:
			m.file(p)
		}
	}
}

func (m *material) file(p string) {
	data, err := content(p)
	switch {
	case err != nil || isStub(data):
		m.missing = true
	case isRendered(data), bytes.HasPrefix(data, installs):
	case mentions(data):
		m.ours = true
	}
	if kustomizationFile(filepath.Base(p)) {
		m.fields(data)
	}
}

// fields looks for what makes objects that no file holds.
func (m *material) fields(text []byte) {
	docs, problems := decode.Documents(text)
	m.missing = m.missing || len(problems) > 0
	for _, d := range docs {
		for _, f := range d.Root.Fields {
			name := strings.ToLower(f.Name)
			m.missing = m.missing || slices.Contains(inflating, name)
			m.ours = m.ours || name == "generators"
		}
	}
}
