package manifest_test

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/vpnctl/vpnctl/plan/manifest"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// examples are the folders that load to an estate of their own.
var examples = []string{"acme", "globex", "initech", "overlays/staging", "overlays/production"}

func loadExample(t *testing.T, dir string) vpn.Estate {
	t.Helper()
	loaded, found := manifest.Load([]string{filepath.Join("../../examples", dir)}, manifest.Options{})
	if len(found) > 0 {
		var b strings.Builder
		found.WriteText(&b)
		t.Fatalf("%s is not without fault:\n%s", dir, b.String())
	}
	return loaded.Estate
}

// The examples are what people copy: they load without a word, and to the estate
// that stands in testdata.
func TestExamples(t *testing.T) {
	for _, dir := range examples {
		t.Run(dir, func(t *testing.T) {
			got := written(t, loadExample(t, dir))
			golden := filepath.Join("testdata/estate", strings.ReplaceAll(dir, "/", "_")+".json")
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// written is an estate as JSON, without positions: they are no part of equality.
func written(t *testing.T, e vpn.Estate) string {
	t.Helper()
	for i := range e.Gateways {
		e.Gateways[i].Position = ""
		for j := range e.Gateways[i].Peers {
			e.Gateways[i].Peers[j].Position = ""
		}
	}
	for i := range e.Links {
		e.Links[i].Position = ""
	}
	text, err := json.MarshalIndent(e, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text) + "\n"
}

// Files, documents and lists whose order means nothing may come in any order.
func TestOrderMakesNoDifference(t *testing.T) {
	for _, dir := range []string{"acme", "globex", "initech"} {
		t.Run(dir, func(t *testing.T) {
			want := written(t, loadExample(t, dir))
			docs := documents(t, filepath.Join("../../examples", dir))
			random := rand.New(rand.NewPCG(1, 2))
			differs := false
			for range 50 {
				text := shuffled(t, docs, random)
				differs = differs || text != shuffled(t, docs, random)
				loaded, found := manifest.Load([]string{"-"}, manifest.Options{Stdin: strings.NewReader(text)})
				if found.Errors() > 0 {
					t.Fatalf("%v\n%s", found, text)
				}
				if diff := cmp.Diff(want, written(t, loaded.Estate)); diff != "" {
					t.Fatalf("(-want +got)\n%s\n%s", diff, text)
				}
			}
			if !differs {
				t.Error("nothing was shuffled")
			}
		})
	}
}

// documents reads all documents of a folder.
func documents(t *testing.T, dir string) []map[string]any {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil || len(files) < 2 {
		t.Fatal(dir, files, err)
	}
	var out []map[string]any
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, doc := range strings.Split(string(text), "\n---\n") {
			var m map[string]any
			if err := yaml.Unmarshal([]byte(doc), &m); err != nil {
				t.Fatal(err)
			}
			out = append(out, m)
		}
	}
	return out
}

// shuffled writes documents in another order, and lists in them too.
func shuffled(t *testing.T, docs []map[string]any, random *rand.Rand) string {
	t.Helper()
	var parts []string
	for _, doc := range docs {
		shuffleLists(doc, random)
		text, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, string(text))
	}
	random.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
	return strings.Join(parts, "\n---\n")
}

// shuffleLists leaves lists alone whose order is one of preference.
func shuffleLists(v any, random *rand.Rand) {
	switch v := v.(type) {
	case map[string]any:
		for name, item := range v {
			if name != "proposals" && name != "patches" {
				shuffleLists(item, random)
			}
		}
	case []any:
		for _, item := range v {
			shuffleLists(item, random)
		}
		random.Shuffle(len(v), func(i, j int) { v[i], v[j] = v[j], v[i] })
	}
}

// A gateway's manifests are what its author wrote, and load again to the same.
func TestManifestsLoadAgain(t *testing.T) {
	for _, dir := range examples {
		t.Run(dir, func(t *testing.T) {
			want := loadExample(t, dir)
			var parts []string
			for _, g := range want.Gateways {
				for _, m := range g.Manifests {
					parts = append(parts, m.JSON)
				}
			}
			loaded, found := manifest.Load([]string{"-"}, manifest.Options{
				EstateFile: filepath.Join("../../examples", dir, "vpnctl.yaml"),
				Stdin:      strings.NewReader(strings.Join(parts, "\n---\n")),
			})
			if found.Errors() > 0 {
				t.Fatal(found)
			}
			if diff := cmp.Diff(written(t, want), written(t, loaded.Estate)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// What a cluster adds to an object is not part of its manifest.
func TestManifestsAreClean(t *testing.T) {
	const text = `apiVersion: vpn.bnerd.net/v1alpha1
kind: VPNGateway
metadata:
  name: dc1
  uid: 1c4e5f2a
  resourceVersion: "7"
  creationTimestamp: null
  managedFields: []
  finalizers: [vpn.bnerd.net/cleanup]
  labels: {team: net}
  annotations: {kubectl.kubernetes.io/last-applied-configuration: "{}"}
spec:
  protocol: wireguard
  wireguard: {}
  exposures:
    - {name: b, target: {address: 10.0.0.2, ports: [443, 80, 8443]}}
    - {name: a, target: {host: a.example.com}}
status:
  serviceCIDR: 100.64.3.0/24
`
	const want = `{"apiVersion":"vpn.bnerd.net/v1alpha1","kind":"VPNGateway",` +
		`"metadata":{"labels":{"team":"net"},"name":"dc1","namespace":"default"},` +
		`"spec":{"exposures":[{"name":"a","target":{"host":"a.example.com"}},` +
		`{"name":"b","target":{"address":"10.0.0.2","ports":[80,443,8443]}}],"protocol":"wireguard","wireguard":{}}}`
	loaded, found := manifest.Load([]string{"-"}, manifest.Options{Stdin: strings.NewReader(text + soundEstate)})
	if len(found) > 0 {
		t.Fatal(found)
	}
	g := loaded.Estate.Gateways[0]
	if diff := cmp.Diff(want, g.Manifests[0].JSON); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if g.Annotations != nil {
		t.Errorf("annotations are kept: %v", g.Annotations)
	}
}
