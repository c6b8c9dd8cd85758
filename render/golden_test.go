package render

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/plan/alloc"
	"github.com/vpnctl/vpnctl/plan/manifest"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const golden = "../testdata/golden"

// TestGolden compares every resource of the repository's examples with the files in
// testdata/golden: Kubernetes objects as they are written, the rest as JSON. One more
// is a gateway of which nothing exists yet, on an estate with all that is optional.
func TestGolden(t *testing.T) {
	compare(t, filepath.Join(golden, "before-create"), files(t, rendered(t, initech())))
	for _, name := range []string{"acme", "globex", "initech", "overlays/staging", "overlays/production"} {
		t.Run(name, func(t *testing.T) {
			graph := resource.Graph{}
			var owners []vpn.Owner
			for _, in := range example(t, name) {
				graph.Merge(rendered(t, in))
				owners = append(owners, in.Gateway.Owner)
			}
			graph.Add(Index(filepath.Base(name), owners)...)
			compare(t, filepath.Join(golden, name), files(t, graph))
		})
	}
}

// example loads an example as vpnctl does, and makes up the facts.
func example(t *testing.T, name string) []Input {
	t.Helper()
	loaded, found := manifest.Load([]string{"../examples/" + name}, manifest.Options{})
	if found.Errors() > 0 {
		t.Fatal(found)
	}
	e := loaded.Estate
	ledgers, problems := alloc.Assign(alloc.Input{Estate: e})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	var all []Input
	for i, g := range e.Gateways {
		node := e.Kubernetes.Nodes[i%len(e.Kubernetes.Nodes)]
		all = append(all, Input{
			Estate: e, Gateway: g, Ledger: ledgers[g.Owner],
			Node: resource.Node{Name: node.Name, ServerID: node.ServerID, Ready: true},
			Facts: facts(g.Owner, resource.GatewayFacts{
				FloatingIP: addr(fmt.Sprintf("203.0.113.%d", 20+i)), PortAddress: addr(fmt.Sprintf("10.254.0.%d", 17+i)),
				PortID: "port", MAC: fmt.Sprintf("fa:16:3e:00:00:%02x", 17+i), ServerID: node.ServerID,
			}),
		})
	}
	return all
}

func files(t *testing.T, g resource.Graph) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, id := range g.IDs() {
		r := g[id]
		if r.Object != nil {
			all[r.Object.Path] = r.Object.Content
			continue
		}
		data, err := json.MarshalIndent(r, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		all["openstack/"+path.Join(id.Namespace, id.Name, id.Kind.Short())+".json"] = string(data) + "\n"
	}
	return all
}

func compare(t *testing.T, dir string, got map[string]string) {
	t.Helper()
	if *update {
		rewrite(t, dir, got)
	}
	want := read(t, dir)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func rewrite(t *testing.T, dir string, all map[string]string) {
	t.Helper()
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	for name, content := range all {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func read(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		all[filepath.ToSlash(name)] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestVersionFollowsTheBytes: other resources or bytes for the same input need another
// Version, or a new vpnctl would call them drift.
func TestVersionFollowsTheBytes(t *testing.T) {
	sum := sha256.New()
	for _, in := range []Input{acme(), globex(), initech()} {
		all := files(t, rendered(t, in))
		for _, name := range slices.Sorted(maps.Keys(all)) {
			if !strings.HasSuffix(name, "applied.json") { // follows from Version itself
				fmt.Fprintf(sum, "%s\n%s", name, all[name])
			}
		}
	}
	got := Version + " " + hex.EncodeToString(sum.Sum(nil)[:8]) + "\n"
	const recorded = "testdata/version"
	if *update {
		if err := os.WriteFile(recorded, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(recorded)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("rendered is %q, recorded is %q: raise Version and run with -update", got, want)
	}
}
