// Package crds carries the CustomResourceDefinitions of the four kinds that a
// cluster serves. They are generated from the wire types below this folder;
// vpnctl crds prints them, and a cluster accepts manifests once they are there.
package crds

import (
	"embed"
	"io/fs"
	"slices"
)

//go:generate go tool controller-gen object paths=./...
//go:generate go tool controller-gen crd paths=./ipsec/...;./vpn/... output:crd:dir=.

//go:embed *.yaml
var files embed.FS

// YAML returns all definitions as one stream of YAML documents, in the order
// of their names.
func YAML() []byte {
	var out []byte
	for _, name := range Names() {
		out = append(out, File(name)...)
	}
	return out
}

// Names returns the file names of the definitions in order, as
// <group>_<plural>.yaml.
func Names() []string {
	names, _ := fs.Glob(files, "*.yaml") // the pattern is well formed
	slices.Sort(names)
	return names
}

// File returns one definition by its file name, or nil where there is none.
// It starts with a document separator.
func File(name string) []byte {
	data, _ := files.ReadFile(name)
	return data
}
