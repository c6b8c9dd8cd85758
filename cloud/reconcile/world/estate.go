package world

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/vpnctl/vpnctl/cloud/simulator"
	"github.com/vpnctl/vpnctl/plan/manifest"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// Root is the folder of the module that a test belongs to.
func Root(t testing.TB) string {
	t.Helper()
	at, err := os.Getwd()
	for dir := at; err == nil; dir = filepath.Dir(dir) {
		if _, none := os.Stat(filepath.Join(dir, "go.mod")); none == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			err = errors.New("no go.mod above " + at)
		}
	}
	t.Fatal(err)
	return ""
}

// Estate is that of all examples together.
func Estate(t testing.TB) vpn.Estate {
	t.Helper()
	return EstateOf(t, "acme", "globex", "initech")
}

// EstateOf is that of the examples of some customers.
func EstateOf(t testing.TB, of ...string) vpn.Estate {
	t.Helper()
	examples := filepath.Join(Root(t), "examples")
	var paths []string
	for _, example := range of {
		files, err := filepath.Glob(filepath.Join(examples, example, "*.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if filepath.Base(f) != "vpnctl.yaml" {
				paths = append(paths, f)
			}
		}
	}
	loaded, found := manifest.Load(paths, manifest.Options{EstateFile: filepath.Join(examples, "acme", "vpnctl.yaml")})
	if found.Errors() > 0 {
		found.WriteText(os.Stderr)
		t.Fatal("the examples are not valid")
	}
	return loaded.Estate
}

// Nodes are those that the examples speak of, as the simulator takes them.
func Nodes(t testing.TB) []simulator.Node {
	var all []simulator.Node
	for _, n := range Estate(t).Kubernetes.Nodes {
		all = append(all, simulator.Node{Name: n.Name, ServerID: n.ServerID})
	}
	return all
}
