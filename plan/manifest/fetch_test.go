package manifest_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/vpnctl/vpnctl/plan/manifest"
)

// TestNothingIsFetched: a server counts who asks it. URL stands for its address, and
// want for the place that is told.
func TestNothingIsFetched(t *testing.T) {
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		_, _ = w.Write([]byte("{}\n"))
	}))
	defer server.Close()
	for sentence, c := range map[string]struct{ tree, want string }{
		"a patch":                      {"-- k/kustomization.yaml --\nresources: [all.yaml]\npatches:\n- path: URL/p.yaml\n  target: {kind: VPNGateway}\n", "k/kustomization.yaml:3:9: patches[0].path: "},
		"a merged patch":               {"-- k/kustomization.yaml --\nresources: [all.yaml]\npatchesStrategicMerge: [URL/p.yaml]\n", "patchesStrategicMerge[0]: "},
		"a list of operations":         {"-- k/kustomization.yaml --\nresources: [all.yaml]\npatchesJson6902:\n- {path: URL/p.yaml, target: {version: v1alpha1, kind: VPNGateway, name: dc1}}\n", "patchesJson6902[0].path: "},
		"a file of a ConfigMap":        {"-- k/kustomization.yaml --\nresources: [all.yaml]\nconfigMapGenerator:\n- {name: a, files: [x=URL/x]}\n", "configMapGenerator[0].files[0]: "},
		"an environment file":          {"-- k/kustomization.yaml --\nresources: [all.yaml]\nconfigMapGenerator:\n- {name: a, envs: [URL/x]}\n", "configMapGenerator[0].envs[0]: "},
		"a file of a Secret":           {"-- k/kustomization.yaml --\nresources: [all.yaml]\nsecretGenerator:\n- {name: a, files: [URL/x]}\n", "secretGenerator[0].files[0]: "},
		"a replacement":                {"-- k/kustomization.yaml --\nresources: [all.yaml]\nreplacements: [{path: URL/x}]\n", "replacements[0].path: "},
		"a schema":                     {"-- k/kustomization.yaml --\nresources: [all.yaml]\nopenapi: {path: URL/x}\n", "openapi.path: "},
		"a resource":                   {"-- k/kustomization.yaml --\nresources: [all.yaml, URL/x.yaml]\n", "resources[1]: "},
		"a key in capitals":            {"-- k/kustomization.yaml --\nRESOURCES: [all.yaml, URL/x.yaml]\n", "RESOURCES[1]: "},
		"a scheme in capitals":         {"-- k/kustomization.yaml --\nresources: [all.yaml]\npatches: [{path: UPPER/p.yaml}]\n", "patches[0].path: "},
		"deep below":                   {"-- k/kustomization.yaml --\nresources: [base]\n-- k/base/kustomization.yaml --\nresources: [../all.yaml]\npatches: [{path: URL/p.yaml}]\n", "k/base/kustomization.yaml:2:18: patches[0].path: "},
		"below a key in capitals":      {"-- k/kustomization.yaml --\nResources: [base]\n-- k/base/kustomization.yaml --\nresources: [../all.yaml]\npatches: [{path: URL/p.yaml}]\n", "k/base/kustomization.yaml:2:18: patches[0].path: "},
		"a transformer's file":         {"-- k/kustomization.yaml --\nresources: [all.yaml]\ntransformers: [t.yaml]\n-- k/t.yaml --\napiVersion: builtin\nkind: PatchTransformer\nmetadata: {name: t}\npath: URL/p.yaml\n", "k/t.yaml:4:7: path: "},
		"a transformer's folder":       {"-- k/kustomization.yaml --\nresources: [all.yaml]\ntransformers: [t]\n-- k/t/kustomization.yaml --\nresources: [t.yaml]\n-- k/t/t.yaml --\napiVersion: builtin\nkind: PatchTransformer\nmetadata: {name: t}\npath: URL/p.yaml\n", "k/t/t.yaml:4:7: path: "},
		"a transformer in place":       {"-- k/kustomization.yaml --\nresources: [all.yaml]\ntransformers:\n- |\n  apiVersion: builtin\n  kind: PatchTransformer\n  metadata: {name: t}\n  path: URL/p.yaml\n", "transformers[0]: "},
		"a text that is not read well": {"-- k/kustomization.yaml --\nresources: [all.yaml]\npatches: [{path: URL/p.yaml}]\npatches: [{path: URL/p.yaml}]\n", "k/kustomization.yaml"},
		"a folder like a repository":   {"-- k/kustomization.yaml --\nresources: [all.yaml, github.com/example/repo]\n-- k/github.com/example/repo/kustomization.yaml --\nresources: []\n", "resources[1]: "},
		"a folder like a login":        {"-- k/kustomization.yaml --\nresources: [all.yaml, 'git@a:b/c']\n-- k/git@a:b/c/kustomization.yaml --\nresources: []\n", "resources[1]: "},
	} {
		t.Run(sentence, func(t *testing.T) {
			asked.Store(0)
			told := built(t, c.tree, server.URL)
			if n := asked.Load(); n > 0 {
				t.Errorf("%d requests were made", n)
			}
			if !strings.Contains(told, c.want) || !strings.Contains(told, "not fetched") {
				t.Errorf("%q doesn't say where: %q", told, c.want)
			}
		})
	}
	for sentence, tree := range map[string]string{
		"an address in an annotation":      "-- k/kustomization.yaml --\nresources: [all.yaml]\ncommonAnnotations: {docs: URL/x}\n",
		"an address in a literal":          "-- k/kustomization.yaml --\nresources: [all.yaml]\nconfigMapGenerator:\n- {name: a, literals: [x=URL/x], options: {annotations: {docs: URL/x}}}\n",
		"an address in a patch":            "-- k/kustomization.yaml --\nresources: [all.yaml]\npatches:\n- target: {kind: VPNGateway}\n  patch: |\n    - {op: add, path: /metadata/annotations, value: {docs: URL/x}}\n",
		"an address in a patch by its own": "-- k/kustomization.yaml --\nresources: [all.yaml]\npatchesStrategicMerge:\n- |\n  apiVersion: vpn.bnerd.net/v1alpha1\n  kind: VPNGateway\n  metadata: {name: dc1, namespace: acme, annotations: {docs: URL/x}}\n",
		"an address in a comment":          "-- k/kustomization.yaml --\n# see URL/x\nresources: [all.yaml]\n",
	} {
		t.Run(sentence, func(t *testing.T) {
			asked.Store(0)
			if told := built(t, tree, server.URL); told != "" || asked.Load() > 0 {
				t.Errorf("%d requests; told %q", asked.Load(), told)
			}
		})
	}
}

// built loads the kustomization k of a tree and returns the errors that are told.
func built(t *testing.T, tree, url string) string {
	t.Helper()
	tree = strings.NewReplacer("URL", url, "UPPER", strings.Replace(url, "http", "HTTP", 1)).Replace(tree)
	t.Chdir(t.TempDir())
	unpack(t, txtar.Parse([]byte("-- vpnctl.yaml --\nESTATE\n-- k/all.yaml --\nGATEWAY\n---\nPEER\n"+tree)).Files)
	_, found := manifest.Load([]string{"k"}, manifest.Options{})
	var b strings.Builder
	if err := found.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	if found.Errors() == 0 {
		return ""
	}
	return b.String()
}
