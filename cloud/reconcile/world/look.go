package world

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/vpnctl/vpnctl/cloud/simulator"
)

// dates are moments that a run writes: when a gateway began to drain.
var dates = regexp.MustCompile(`20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ`)

// attachment is the hash of the port's address and MAC that rolls the pod.
var attachment = regexp.MustCompile(`attachment: "?[0-9a-f]+"?`)

// Look is all that exists, cloud and tree, without what the server chose.
func (w *World) Look() string {
	w.T.Helper()
	s, err := w.Sim.Snapshot()
	if err != nil {
		w.T.Fatal(err)
	}
	var b strings.Builder
	b.WriteString(w.homed(s).Replace(undated(string(s.Normalize().Bytes()))))
	plain := Plain(s)
	for _, path := range w.Files() {
		content, err := os.ReadFile(filepath.Join(w.Tree, path))
		if err != nil {
			w.T.Fatal(err)
		}
		fmt.Fprintf(&b, "--- %s\n%s", path, plain(string(content)))
	}
	return b.String()
}

// homed takes from ledgers the addresses of legs in customers' projects, which the server
// chose.
func (w *World) homed(s simulator.Snapshot) *strings.Replacer {
	w.T.Helper()
	operator, err := w.Sim.Credentials(simulated, "operator")
	if err != nil {
		w.T.Fatal(err)
	}
	var pairs []string
	for _, p := range s.Of("port") {
		if name := p.Text("name"); strings.HasPrefix(name, "vpnctl-") && p.Text("project_id") != operator.ProjectID {
			for _, ip := range p.Attributes["fixed_ips"].([]any) {
				pairs = append(pairs, "@"+ip.(map[string]any)["ip_address"].(string)+`"`, "@address of "+name+`"`)
			}
		}
	}
	return strings.NewReplacer(pairs...)
}

// undated is a text without moments and hashes of what the server chose.
func undated(text string) string {
	return attachment.ReplaceAllString(dates.ReplaceAllString(text, "DATE"), "attachment: HASH")
}

// Plain gives texts without what the server of a snapshot chose, and when.
func Plain(s simulator.Snapshot) func(text string) string {
	chosen := chosen(s)
	return func(text string) string { return undated(chosen.Replace(text)) }
}

// chosen replaces addresses and MACs that the server chose by the name of what
// has them.
func chosen(s simulator.Snapshot) *strings.Replacer {
	var pairs []string
	for _, p := range s.Of("port") {
		name := p.Text("name")
		pairs = append(pairs, p.Text("mac_address"), "MAC of "+name)
		for _, ip := range p.Attributes["fixed_ips"].([]any) {
			if address := ip.(map[string]any)["ip_address"].(string); strings.HasPrefix(name, "vpnctl-") {
				pairs = append(pairs, address+"/", "address of "+name+"/", `"`+address+`"`, "address of "+name, address+"\n", "address of "+name+"\n", address+" ", "address of "+name+" ", address+";", "address of "+name+";", address+",", "address of "+name+",")
			}
		}
	}
	for _, f := range s.Of("floating-ip") {
		if d := f.Text("description"); strings.HasPrefix(d, "vpnctl") {
			pairs = append(pairs, f.Text("floating_ip_address"), "floating IP of "+d)
		}
	}
	return strings.NewReplacer(pairs...)
}

// Files are the tree's files, sorted.
func (w *World) Files() []string {
	w.T.Helper()
	var paths []string
	err := filepath.WalkDir(w.Tree, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(w.Tree, path)
			paths = append(paths, rel)
		}
		return err
	})
	if err != nil {
		w.T.Fatal(err)
	}
	slices.Sort(paths)
	return paths
}

// Whole wants every file that a kustomization of the tree lists to be there:
// one that is missing stops Flux and Argo CD altogether.
func (w *World) Whole() {
	w.T.Helper()
	for _, path := range w.Files() {
		if filepath.Base(path) != "kustomization.yaml" {
			continue
		}
		content, err := os.ReadFile(filepath.Join(w.Tree, path))
		if err != nil {
			w.T.Fatal(err)
		}
		var k struct{ Resources []string }
		if err := yaml.Unmarshal(content, &k); err != nil {
			w.T.Fatal(err)
		}
		for _, r := range k.Resources {
			if _, err := os.Stat(filepath.Join(w.Tree, filepath.Dir(path), r)); err != nil {
				w.T.Errorf("%s lists %s, which is not there", path, r)
			}
		}
	}
}

// Snapshot is all that is in a world's cloud.
func Snapshot(t testing.TB, w *World) simulator.Snapshot {
	t.Helper()
	s, err := w.Sim.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	return s
}
