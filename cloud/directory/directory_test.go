package directory

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/state"
)

var (
	estate = vpn.Estate{Name: "prod", Kubernetes: vpn.Kubernetes{Nodes: []vpn.Node{{Name: "worker-1", ServerID: "s1"}}}}
	dc1    = vpn.Owner{Kind: vpn.KindVPNGateway, Namespace: "acme", Name: "dc1"}
)

const body = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: dc1-nat\n  namespace: acme\ndata:\n  a: b\n"

// configMap is a resource as it is desired.
func configMap(text string) resource.Resource {
	id := resource.ID{Kind: resource.KubernetesKind("ConfigMap"), Namespace: "acme", Name: "dc1-nat"}
	return resource.Resource{ID: id, Owner: dc1.String(), Object: &resource.Object{
		APIVersion: "v1", Kind: "ConfigMap", Namespace: "acme", Name: "dc1-nat",
		Path: "acme/dc1/configmap-dc1-nat.yaml", Content: state.Marker("prod", dc1) + "\n" + text,
	}}
}

func put(t *testing.T, root, name, content string) {
	t.Helper()
	path := filepath.Join(root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// everything is the content of the directory: files, and links by their target.
func everything(t *testing.T, root string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
		if err != nil || path == root {
			return err
		}
		name, _ := filepath.Rel(root, path)
		switch {
		case entry.IsDir():
			all[name] = "folder"
		case entry.Type()&os.ModeSymlink != 0:
			all[name], err = os.Readlink(path)
		default:
			var data []byte
			data, err = os.ReadFile(path)
			all[name] = string(data)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func observe(t *testing.T, root string) *cloud.Observation {
	t.Helper()
	o, err := New(root).Observe(context.Background(), estate, cloud.Scope{})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func change(action plan.Action, before, after *resource.Resource) plan.Change {
	c := plan.Change{Action: action, Before: before, After: after}
	for _, r := range []*resource.Resource{before, after} {
		if r != nil {
			c.ID = r.ID
		}
	}
	return c
}

func apply(root string, c plan.Change) error {
	_, err := New(root).Apply(context.Background(), c)
	return err
}

func TestWhatIsWrittenIsObserved(t *testing.T) {
	root := filepath.Join(t.TempDir(), "not", "there")
	if o := observe(t, root); len(o.Graph) != 0 || len(o.Facts.Nodes) != 1 || !o.Facts.Nodes[0].Ready {
		t.Errorf("a directory that isn't there is observed as %+v", o)
	}
	want := configMap(body)
	for range 2 {
		if err := apply(root, change(plan.Create, nil, &want)); err != nil {
			t.Fatal(err)
		}
	}
	want.Ref, want.Proof = want.Object.Path, "marker of VPNGateway/acme/dc1"
	if diff := cmp.Diff(resource.Graph{want.ID: want}, observe(t, root).Graph); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}

	next := configMap(body + "  c: d\n")
	for range 2 {
		if err := apply(root, change(plan.Update, &want, &next)); err != nil {
			t.Fatal(err)
		}
	}
	if got := observe(t, root).Graph[want.ID].Object.Content; got != next.Object.Content {
		t.Errorf("after the update there is %q", got)
	}
	for range 2 {
		if err := apply(root, change(plan.Delete, &next, nil)); err != nil {
			t.Fatal(err)
		}
	}
	if left := everything(t, root); len(left) != 0 {
		t.Errorf("left over: %v", left)
	}
}

func TestAMovedObjectIsInOnePlace(t *testing.T) {
	root := t.TempDir()
	before, after := configMap(body), configMap(body)
	moved := *after.Object
	moved.Path = "acme/dc2/configmap-dc1-nat.yaml"
	after.Object = &moved
	if err := apply(root, change(plan.Create, nil, &before)); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := apply(root, change(plan.Update, &before, &after)); err != nil {
			t.Fatal(err)
		}
	}
	want := map[string]string{"acme": "folder", "acme/dc2": "folder", "acme/dc2/configmap-dc1-nat.yaml": after.Object.Content}
	if diff := cmp.Diff(want, everything(t, root)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestWhatIsInTheWayStays(t *testing.T) {
	before, after := configMap(body), configMap(body+"  c: d\n")
	path := before.Object.Path
	outside := t.TempDir()
	put(t, outside, "configmap-dc1-nat.yaml", before.Object.Content)
	for sentence, c := range map[string]struct {
		prepare func(t *testing.T, root string)
		change  plan.Change
	}{
		"a file of another hand where one should be created": {
			func(t *testing.T, root string) { put(t, root, path, "mine\n") }, change(plan.Create, nil, &after)},
		"a file of another estate": {
			func(t *testing.T, root string) { put(t, root, path, state.Marker("other", dc1)+"\n"+body) }, change(plan.Create, nil, &after)},
		"a file that was changed after the plan": {
			func(t *testing.T, root string) { put(t, root, path, before.Object.Content+"# mine\n") }, change(plan.Update, &before, &after)},
		"a file that is gone": {
			func(t *testing.T, root string) {}, change(plan.Update, &before, &after)},
		"a file to delete that was changed": {
			func(t *testing.T, root string) { put(t, root, path, before.Object.Content+"# mine\n") }, change(plan.Delete, &before, nil)},
		"a file to delete that lost its marker": {
			func(t *testing.T, root string) { put(t, root, path, body) }, change(plan.Delete, &before, nil)},
		"a folder where the file should be": {
			func(t *testing.T, root string) { put(t, root, path+"/x", "") }, change(plan.Create, nil, &after)},
		"a file where a folder should be": {
			func(t *testing.T, root string) { put(t, root, "acme/dc1", "") }, change(plan.Create, nil, &after)},
		"a link to a file outside, to write": {
			func(t *testing.T, root string) { link(t, outside+"/configmap-dc1-nat.yaml", root, path) }, change(plan.Update, &before, &after)},
		"a link to a folder outside, to write": {
			func(t *testing.T, root string) { link(t, outside, root, "acme/dc1") }, change(plan.Update, &before, &after)},
		"a link to a folder outside, to create": {
			func(t *testing.T, root string) { link(t, outside, root, "acme") }, change(plan.Create, nil, &after)},
		"a link to a folder outside, to delete": {
			func(t *testing.T, root string) { link(t, outside, root, "acme/dc1") }, change(plan.Delete, &before, nil)},
		"a link to nowhere": {
			func(t *testing.T, root string) { link(t, "nowhere", root, path) }, change(plan.Create, nil, &after)},
	} {
		t.Run(sentence, func(t *testing.T) {
			root := t.TempDir()
			c.prepare(t, root)
			want, wantOutside := everything(t, root), everything(t, outside)
			if err := apply(root, c.change); !errors.Is(err, cloud.ErrConflict) {
				t.Errorf("error %v is no conflict", err)
			}
			if diff := cmp.Diff(want, everything(t, root)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if diff := cmp.Diff(wantOutside, everything(t, outside)); diff != "" {
				t.Errorf("outside (-want +got)\n%s", diff)
			}
		})
	}
}

func link(t *testing.T, target, root, name string) {
	t.Helper()
	path := filepath.Join(root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, path); err != nil {
		t.Fatal(err)
	}
}

func TestPathsOutOfTheTreeAreRefused(t *testing.T) {
	for _, path := range []string{"../x.yaml", "/x.yaml", "a/../../x.yaml", "a//x.yaml", "", ".", "a/./x.yaml"} {
		parent := t.TempDir()
		root := filepath.Join(parent, "root")
		r := configMap(body)
		r.Object.Path = path
		if err := apply(root, change(plan.Create, nil, &r)); err == nil {
			t.Errorf("%q was written", path)
		}
		if err := apply(root, change(plan.Delete, &r, nil)); err == nil {
			t.Errorf("%q was deleted", path)
		}
		for name, content := range everything(t, parent) {
			if content != "folder" {
				t.Errorf("%q left %s", path, name)
			}
		}
	}
}

func TestUnknownContentIsNotWritten(t *testing.T) {
	root := t.TempDir()
	r := configMap("a: " + resource.Unknown + "\n")
	r.Object.Unknown = []string{"floating IP"}
	if err := apply(root, change(plan.Create, nil, &r)); err == nil || !strings.Contains(err.Error(), "floating IP") {
		t.Errorf("error %v doesn't name what is missing", err)
	}
	if left := everything(t, root); len(left) != 0 {
		t.Errorf("left over: %v", left)
	}
}

func TestAUsersWordsAreNoUnknownContent(t *testing.T) {
	root := t.TempDir()
	r := configMap("metadata:\n  annotations:\n    note: " + resource.Unknown + "\n")
	if err := apply(root, change(plan.Create, nil, &r)); err != nil {
		t.Fatal(err)
	}
	if got := everything(t, root)[r.Object.Path]; got != r.Object.Content {
		t.Errorf("written: %q", got)
	}
}

func TestOnlyMarkedFilesInTheirPlaceAreOurs(t *testing.T) {
	marked := configMap(body).Object.Content
	for sentence, c := range map[string]struct {
		path, content string
		want, notices int
	}{
		"a file as written":                        {"acme/dc1/configmap-dc1-nat.yaml", marked, 1, 0},
		"a file that was damaged":                  {"acme/dc1/configmap-dc1-nat.yaml", state.Marker("prod", dc1) + "\n\t{", 1, 0},
		"a file of the marker alone":               {"acme/dc1/configmap-dc1-nat.yaml", state.Marker("prod", dc1) + "\n", 1, 0},
		"the topmost index":                        {"kustomization.yaml", state.Marker("prod", vpn.Owner{}) + "\nkind: Kustomization\n", 1, 0},
		"half a marker":                            {"acme/dc1/configmap-dc1-nat.yaml", state.Marker("prod", dc1), 0, 0},
		"another estate's file":                    {"acme/dc1/configmap-dc1-nat.yaml", state.Marker("other", dc1) + "\n" + body, 0, 0},
		"a file without the marker":                {"acme/dc1/configmap-dc1-nat.yaml", body, 0, 0},
		"an empty file":                            {"acme/dc1/configmap-dc1-nat.yaml", "", 0, 0},
		"a marker on the second line":              {"acme/dc1/configmap-dc1-nat.yaml", "\n" + marked, 0, 0},
		"a file in a hidden folder":                {".git/dc1/configmap-dc1-nat.yaml", marked, 0, 0},
		"a file that is being written":             {"acme/dc1/.configmap-dc1-nat.yaml.0123456789abcdef.vpnctl", marked, 0, 0},
		"a file of another kind":                   {"acme/dc1/configmap-dc1-nat.json", marked, 0, 0},
		"a copy in another gateway's folder":       {"acme/dc2/configmap-dc1-nat.yaml", marked, 0, 1},
		"a copy at the top":                        {"copy.yaml", marked, 0, 1},
		"an index that names a gateway":            {"acme/kustomization.yaml", marked, 0, 1},
		"a file too deep to be one of ours":        {"a/b/c/d/configmap-dc1-nat.yaml", marked, 0, 0},
		"a first line that doesn't come to an end": {"acme/dc1/configmap-dc1-nat.yaml", state.Marker("prod", dc1) + strings.Repeat("x", 10000), 0, 0},
	} {
		t.Run(sentence, func(t *testing.T) {
			root := t.TempDir()
			put(t, root, c.path, c.content)
			o := observe(t, root)
			if len(o.Graph) != c.want || len(o.Notices) != c.notices {
				t.Errorf("%d resources, want %d; notices %v, want %d", len(o.Graph), c.want, o.Notices, c.notices)
			}
		})
	}
}

func TestLinksAreNotFollowed(t *testing.T) {
	root, outside := t.TempDir(), t.TempDir()
	put(t, outside, "dc1/configmap-dc1-nat.yaml", configMap(body).Object.Content)
	link(t, outside, root, "acme")
	if o := observe(t, root); len(o.Graph) != 0 {
		t.Errorf("observed through a link: %v", o.Graph)
	}
}

func TestAFileThatCannotBeReadIsAnError(t *testing.T) {
	root := t.TempDir()
	put(t, root, "acme/dc1/configmap-dc1-nat.yaml", configMap(body).Object.Content)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := New(root).Observe(ctx, estate, cloud.Scope{}); !errors.Is(err, context.Canceled) {
		t.Errorf("a walk that was cut off ended with %v", err)
	}
	file := filepath.Join(t.TempDir(), "file")
	put(t, filepath.Dir(file), "file", "")
	if _, err := New(file).Observe(context.Background(), estate, cloud.Scope{}); err == nil {
		t.Error("a file was observed as a directory")
	}
}

func TestObstacles(t *testing.T) {
	root := t.TempDir()
	want := configMap(body)
	put(t, root, want.Object.Path, "mine\n")
	o := observe(t, root)
	got, err := New(root).Obstacles(t.Context(), resource.Graph{want.ID: want}, o.Graph)
	if err != nil || len(got) != 1 || got[0].Owner != dc1 || got[0].ID != want.ID {
		t.Errorf("refusals %v, error %v", got, err)
	}
	put(t, root, want.Object.Path, state.Marker("fra", dc1)+"\n")
	if got, err := New(root).Obstacles(t.Context(), resource.Graph{want.ID: want}, observe(t, root).Graph); err != nil || len(got) != 0 {
		t.Errorf("a directory of another estate, which Observe refuses: refusals %v, error %v", got, err)
	}
	put(t, root, want.Object.Path, want.Object.Content)
	if got, err := New(root).Obstacles(t.Context(), resource.Graph{want.ID: want}, observe(t, root).Graph); err != nil || len(got) != 0 {
		t.Errorf("refusals %v, error %v", got, err)
	}
}

func TestHead(t *testing.T) {
	want := resource.Object{APIVersion: "v1", Kind: "ConfigMap", Namespace: "acme", Name: "010"}
	for sentence, content := range map[string]string{
		"as written":         "# x\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: \"010\"\n  namespace: acme\ndata:\n  kind: x\n",
		"in another order":   "data: {}\nmetadata:\n  namespace: acme\n  name: '010'\nkind: ConfigMap\napiVersion: v1\n",
		"in single quotes":   "apiVersion: v1\nkind: 'ConfigMap'\nmetadata:\n  name: '010'\n  namespace: acme\n",
		"with comments":      "apiVersion: v1 # x\nkind: ConfigMap\nmetadata:\n  name: \"010\" # x\n  namespace: acme\n",
		"as one line":        `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"010","namespace":"acme"}}`,
		"indented otherwise": "apiVersion: v1\nkind: ConfigMap\nmetadata:\n    name: \"010\"\n    namespace: acme\n",
	} {
		t.Run(sentence, func(t *testing.T) {
			if diff := cmp.Diff(want, head(content)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
	if got := head("\t{"); got.Kind != "" {
		t.Errorf("a text that is no YAML is a %s", got.Kind)
	}
}
