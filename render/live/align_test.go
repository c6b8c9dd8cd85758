package live

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/plan/resource"
)

const marker = "# Written by vpnctl. estate=prod owner=VPNGateway/acme/dc1\n"

var id = resource.ID{Kind: resource.KubernetesKind("Deployment"), Namespace: "acme", Name: "dc1"}

// deployment is a desired text, as it is written.
const deployment = marker + `apiVersion: apps/v1
kind: Deployment
metadata:
  name: dc1
  namespace: acme
  labels:
    app: dc1
spec:
  replicas: 1
  strategy:
    type: Recreate
  template:
    spec:
      nodeName: worker-1
      containers:
      - name: agent
        image: gateway:1
        args:
        - agent
        - status
        ports:
        - containerPort: 9903
          name: metrics
        resources:
          requests:
            cpu: "50m"
            memory: "1024Mi"
        env: []
      - name: charon
        image: gateway:1
      tolerations:
      - key: a
        operator: Exists
`

// held is what a server makes of it.
const held = `{"metadata":{"name":"dc1","namespace":"acme","labels":{"app":"dc1","theirs":"x"},"annotations":{"deployment.kubernetes.io/revision":"1"}},
"spec":{"replicas":1,"revisionHistoryLimit":10,"strategy":{"type":"Recreate"},"template":{"metadata":{"creationTimestamp":null},"spec":{"nodeName":"worker-1","dnsPolicy":"ClusterFirst",
"containers":[
 {"name":"agent","image":"gateway:1","args":["agent","status"],"imagePullPolicy":"IfNotPresent","ports":[{"containerPort":9903,"name":"metrics","protocol":"TCP"}],"resources":{"requests":{"cpu":"50m","memory":"1Gi"}}},
 {"name":"charon","image":"gateway:1","imagePullPolicy":"IfNotPresent"},
 {"name":"injected","image":"mesh:1"}],
"tolerations":[{"key":"a","operator":"Exists"}]}}}}`

// fields are those that the desired text makes ours.
const fields = `{"f:metadata":{"f:labels":{"f:app":{}}},"f:spec":{"f:replicas":{},"f:strategy":{"f:type":{}},"f:template":{"f:spec":{"f:nodeName":{},"f:tolerations":{},
"f:containers":{"k:{\"name\":\"agent\"}":{".":{},"f:name":{},"f:image":{},"f:args":{},"f:env":{},"f:ports":{"k:{\"containerPort\":9903,\"protocol\":\"TCP\"}":{".":{},"f:containerPort":{},"f:name":{}}},"f:resources":{"f:requests":{"f:cpu":{},"f:memory":{}}}},
"k:{\"name\":\"charon\"}":{".":{},"f:name":{},"f:image":{}}}}}}}`

func parsed(t *testing.T, text string) map[string]any {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func text(t *testing.T, v any) []byte {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// at goes down to a map, through lists by index.
func at(v any, path ...any) map[string]any {
	for _, step := range path {
		switch s := step.(type) {
		case string:
			v = v.(map[string]any)[s]
		case int:
			v = v.([]any)[s]
		}
	}
	return v.(map[string]any)
}

// TestOnlyWhatIsOursCounts: each edit of a live object is seen or not, and read as lines
// of the desired text that came or went.
func TestOnlyWhatIsOursCounts(t *testing.T) {
	spec := []any{"spec", "template", "spec"}
	for name, tt := range map[string]struct {
		edit func(live, owned map[string]any)
		want []string // lines of the diff
		by   []string
	}{
		"nothing":                     {edit: func(_, _ map[string]any) {}},
		"a label of another hand":     {edit: func(live, _ map[string]any) { at(live, "metadata", "labels")["more"] = "y" }},
		"a container of another hand": {edit: func(live, _ map[string]any) { at(live, append(spec, "containers", 2)...)["image"] = "mesh:2" }},
		"a quantity written otherwise": {edit: func(live, _ map[string]any) {
			at(live, append(spec, "containers", 0, "resources", "requests")...)["cpu"] = "0.05"
		}},
		"a default": {edit: func(live, _ map[string]any) { at(live, "spec")["minReadySeconds"] = 1 }},
		"containers in another order": {edit: func(live, _ map[string]any) {
			slices.Reverse(at(live, spec...)["containers"].([]any))
		}},
		"a value": {
			edit: func(live, _ map[string]any) { at(live, append(spec, "containers", 0)...)["image"] = "evil:1" },
			want: []string{"-        image: gateway:1", "+        image: evil:1"}, by: []string{"kubectl-edit"},
		},
		"a number": {
			edit: func(live, _ map[string]any) { at(live, "spec")["replicas"] = int64(0) },
			want: []string{"-  replicas: 1", "+  replicas: 0"},
		},
		"a number as text": {
			edit: func(live, _ map[string]any) { at(live, "spec")["replicas"] = "1" },
			want: []string{"-  replicas: 1", `+  replicas: "1"`},
		},
		"a container that is gone": {
			edit: func(live, _ map[string]any) {
				at(live, spec...)["containers"] = at(live, spec...)["containers"].([]any)[:1]
			},
			want: []string{"-      - name: charon", "-        image: gateway:1"},
		},
		"an item of an atomic list": {
			edit: func(live, _ map[string]any) {
				c := at(live, append(spec, "containers", 0)...)
				c["args"] = append(c["args"].([]any), "-v")
			},
			want: []string{"+        - \"-v\""},
		},
		"a field that is no longer wanted": {
			edit: func(live, owned map[string]any) {
				at(live, "spec")["paused"] = true
				at(owned, "f:spec")["f:paused"] = map[string]any{}
			},
			want: []string{"+  paused: true"},
		},
		"a container that is no longer wanted": {
			edit: func(_, owned map[string]any) {
				at(owned, "f:spec", "f:template", "f:spec", "f:containers")[`k:{"name":"injected"}`] = map[string]any{".": map[string]any{}}
			},
			want: []string{"+      - image: mesh:1", "+        name: injected"},
		},
		"a label that is gone": {
			edit: func(live, _ map[string]any) { delete(at(live, "metadata", "labels"), "app") },
			want: []string{"-  labels:", "-    app: dc1", "+  labels: {}"},
		},
		"a map where text was": {
			edit: func(live, _ map[string]any) { at(live, spec...)["nodeName"] = map[string]any{"a": "b"} },
			want: []string{"-      nodeName: worker-1", "+      nodeName:", "+        a: b"},
		},
		"tolerations that grew": {
			edit: func(live, _ map[string]any) {
				at(live, spec...)["tolerations"] = append(at(live, spec...)["tolerations"].([]any), map[string]any{"key": "b"})
			},
			want: []string{"+      - key: b"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			live, owned := parsed(t, held), parsed(t, fields)
			tt.edit(live, owned)
			seen := resource.Graph{}
			seen.Add(resource.Resource{ID: id, Owner: "VPNGateway/acme/dc1", Object: &resource.Object{
				APIVersion: "apps/v1", Kind: "Deployment", Live: &resource.Live{JSON: text(t, live), Managers: []resource.Manager{
					{Name: Manager, Apply: true, FieldsV1: string(text(t, owned))},
					{Name: "kubectl-edit", FieldsV1: `{"f:spec":{"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"agent\"}":{"f:image":{}}}}}}}`},
				}},
			}})
			wanted := resource.Graph{}
			wanted.Add(resource.Resource{ID: id, Object: &resource.Object{APIVersion: "apps/v1", Kind: "Deployment", Content: deployment, Path: "acme/dc1/deployment-dc1.yaml"}})
			got := Align(wanted, seen)[id].Object
			if diff := cmp.Diff(tt.want, lines(deployment, got.Content)); diff != "" {
				t.Errorf("lines (-want +got)\n%s\n%s", diff, got.Content)
			}
			if diff := cmp.Diff(tt.by, got.ChangedBy); diff != "" {
				t.Errorf("changed by (-want +got)\n%s", diff)
			}
			if seen[id].Object.Content != "" || got.Path != "acme/dc1/deployment-dc1.yaml" {
				t.Errorf("content %q was written into the observed graph, path %s", seen[id].Object.Content, got.Path)
			}
		})
	}
}

// lines are those that one text has and the other hasn't, by a longest common
// subsequence.
func lines(before, after string) []string {
	a, b := split(before), split(after)
	length := make([][]int, len(a)+1)
	for i := range length {
		length[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if length[i][j] = max(length[i+1][j], length[i][j+1]); a[i] == b[j] {
				length[i][j] = length[i+1][j+1] + 1
			}
		}
	}
	var out []string
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && length[i+1][j] >= length[i][j+1]:
			out, i = append(out, "-"+a[i]), i+1
		default:
			out, j = append(out, "+"+b[j]), j+1
		}
	}
	return out
}

func split(text string) []string {
	var all []string
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		all = append(all, line)
	}
	return all
}

// TestWithoutADesiredObject: all of it is shown.
func TestWithoutADesiredObject(t *testing.T) {
	seen := resource.Graph{}
	seen.Add(resource.Resource{ID: id, Owner: "VPNGateway/acme/dc1", Object: &resource.Object{
		APIVersion: "apps/v1", Kind: "Deployment", Live: &resource.Live{JSON: []byte(`{"metadata":{"name":"dc1"},"spec":{"replicas":1}}`)},
	}})
	got := Align(resource.Graph{}, seen)[id].Object
	want := "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: dc1\nspec:\n  replicas: 1\n"
	if got.Content != want || got.Path != "acme/dc1/deployment-dc1.yaml" {
		t.Errorf("%s\n%s", got.Path, got.Content)
	}
}
