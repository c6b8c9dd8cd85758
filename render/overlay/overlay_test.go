package overlay

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

const ownership = "  labels:\n    app.kubernetes.io/managed-by: vpnctl\n    vpn.bnerd.net/estate: prod\n    vpn.bnerd.net/gateway: dc1\n"

func object(apiVersion, kind, name, rest string) resource.Object {
	return resource.Object{
		APIVersion: apiVersion, Kind: kind, Namespace: "acme", Name: name, Path: strings.ToLower(kind),
		Content: "# marker\napiVersion: " + apiVersion + "\nkind: " + kind + "\nmetadata:\n  name: " + name + "\n  namespace: acme\n" + ownership + rest,
	}
}

func objects() []resource.Object {
	return []resource.Object{
		object("v1", "ConfigMap", "dc1-nat", "data:\n  nat.nft: |\n    a\n    b\n"),
		object("apps/v1", "Deployment", "dc1", "spec:\n  template:\n    spec:\n      containers:\n      - name: charon\n        image: a:1\n      - name: status\n        image: a:1\n"),
	}
}

func apply(t *testing.T, p vpn.Patch) (map[string]string, error) {
	t.Helper()
	parsed, err := Parse([]vpn.Patch{p})
	if err != nil {
		return nil, err
	}
	after, _, err := parsed.Apply(objects())
	contents := map[string]string{}
	for _, o := range after {
		contents[o.Kind] = o.Content
	}
	return contents, err
}

func TestPatchesThatApply(t *testing.T) {
	before := map[string]string{"ConfigMap": objects()[0].Content, "Deployment": objects()[1].Content}
	head := "# marker\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n" + ownership + "  name: dc1\n  namespace: acme\nspec:\n"
	for sentence, c := range map[string]struct {
		patch  vpn.Patch
		change map[string]string // "": deleted
	}{
		"a merge into a list by its key": {
			vpn.Patch{Patch: "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: dc1\nspec:\n  template:\n    spec:\n      containers:\n      - name: status\n        image: b:2\n"},
			map[string]string{"Deployment": head + "  template:\n    spec:\n      containers:\n      - image: b:2\n        name: status\n      - image: a:1\n        name: charon\n"},
		},
		"operations on a target by a pattern": {
			vpn.Patch{Patch: "- op: add\n  path: /spec/paused\n  value: true\n", Target: json.RawMessage(`{"kind":"Deploy.*"}`)},
			map[string]string{"Deployment": head + "  paused: true\n  template:\n    spec:\n      containers:\n      - image: a:1\n        name: charon\n      - image: a:1\n        name: status\n"},
		},
		"operations on one line": {
			vpn.Patch{Patch: "[{op: add, path: /spec/paused, value: true}]", Target: json.RawMessage(`{"kind":"Deployment"}`)},
			map[string]string{"Deployment": head + "  paused: true\n  template:\n    spec:\n      containers:\n      - image: a:1\n        name: charon\n      - image: a:1\n        name: status\n"},
		},
		"a target by its labels": {
			vpn.Patch{Patch: "- op: remove\n  path: /spec/template/spec/containers/1\n", Target: json.RawMessage(`{"kind":"Deployment","labelSelector":"vpn.bnerd.net/gateway=dc1"}`)},
			map[string]string{"Deployment": head + "  template:\n    spec:\n      containers:\n      - image: a:1\n        name: charon\n"},
		},
		"a merge that names nothing, into a target": {
			vpn.Patch{Patch: "spec:\n  paused: true\n", Target: json.RawMessage(`{"kind":"Deployment"}`)},
			map[string]string{"Deployment": head + "  paused: true\n  template:\n    spec:\n      containers:\n      - image: a:1\n        name: charon\n      - image: a:1\n        name: status\n"},
		},
		"a merge that names its object by kind and name alone": {
			vpn.Patch{Patch: "kind: Deployment\nmetadata:\n  name: dc1\nspec:\n  paused: true\n"},
			map[string]string{"Deployment": head + "  paused: true\n  template:\n    spec:\n      containers:\n      - image: a:1\n        name: charon\n      - image: a:1\n        name: status\n"},
		},
		"a patch for another version": {
			vpn.Patch{Patch: "apiVersion: apps/v2\nkind: Deployment\nmetadata:\n  name: dc1\nspec: {}\n"}, nil,
		},
		"a patch that deletes": {
			vpn.Patch{Patch: "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: dc1-nat\n$patch: delete\n"}, map[string]string{"ConfigMap": ""},
		},
		"a patch that changes nothing keeps the bytes": {
			vpn.Patch{Patch: "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: dc1-nat\n  namespace: acme\n"}, nil,
		},
		"a patch for another namespace": {
			vpn.Patch{Patch: "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: dc1-nat\n  namespace: other\ndata: {}\n"}, nil,
		},
		"a patch for other labels": {
			vpn.Patch{Patch: "- op: remove\n  path: /spec\n", Target: json.RawMessage(`{"labelSelector":"vpn.bnerd.net/gateway=dc2"}`)}, nil,
		},
		"a name that only begins like the object's": {
			vpn.Patch{Patch: "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: dc1\ndata: {}\n"}, nil,
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			want := map[string]string{}
			for kind, content := range before {
				want[kind] = content
				if after, changed := c.change[kind]; changed {
					want[kind] = after
				}
				if want[kind] == "" {
					delete(want, kind)
				}
			}
			got, err := apply(t, c.patch)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestPatchesThatAreRefused(t *testing.T) {
	target := func(s string) json.RawMessage { return json.RawMessage(s) }
	for sentence, p := range map[string]vpn.Patch{
		"a rename":                        {Patch: "- op: replace\n  path: /metadata/name\n  value: x\n", Target: target(`{"kind":"Deployment"}`)},
		"a move to another namespace":     {Patch: "- op: replace\n  path: /metadata/namespace\n  value: x\n", Target: target(`{"kind":"Deployment"}`)},
		"another kind":                    {Patch: "- op: replace\n  path: /kind\n  value: X\n", Target: target(`{"kind":"Deployment"}`)},
		"ownership labels taken":          {Patch: "- op: remove\n  path: /metadata/labels\n", Target: target(`{"kind":"Deployment"}`)},
		"another gateway's label":         {Patch: "metadata:\n  labels:\n    vpn.bnerd.net/gateway: dc2\n", Target: target(`{"kind":"Deployment"}`)},
		"operations on what isn't there":  {Patch: "- op: remove\n  path: /spec/nothing\n", Target: target(`{"kind":"Deployment"}`)},
		"operations without a target":     {Patch: "- op: remove\n  path: /spec\n"},
		"an object without a name":        {Patch: "kind: Deployment\n"},
		"a text that is no YAML":          {Patch: "\t{", Target: target(`{"kind":"Deployment"}`)},
		"a text that says nothing":        {Patch: "null\n", Target: target(`{"kind":"Deployment"}`)},
		"metadata of another shape":       {Patch: "metadata: []\n", Target: target(`{"kind":"Deployment"}`)},
		"two documents":                   {Patch: "spec: {}\n---\nspec: {}\n", Target: target(`{"kind":"Deployment"}`)},
		"a pattern that is none":          {Patch: "spec: {}\n", Target: target(`{"kind":"("}`)},
		"a label selector that is none":   {Patch: "spec: {}\n", Target: target(`{"labelSelector":"=="}`)},
		"a target that is no JSON object": {Patch: "spec: {}\n", Target: target(`[]`)},
	} {
		t.Run(sentence, func(t *testing.T) {
			if got, err := apply(t, p); err == nil {
				t.Errorf("applied: %v", got)
			}
		})
	}
}

func TestWhichPatchesWereForSomething(t *testing.T) {
	parsed, err := Parse([]vpn.Patch{
		{Patch: "spec: {}\n", Target: json.RawMessage(`{"kind":"Deployment"}`)},
		{Patch: "spec: {}\n", Target: json.RawMessage(`{"kind":"Deploymint"}`)},
		{Patch: "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: dc2\n"},
		{Patch: "$patch: delete\n", Target: json.RawMessage(`{"kind":"ConfigMap"}`)},
		{Patch: "data: {}\n", Target: json.RawMessage(`{"kind":"ConfigMap"}`)},
	})
	if err != nil {
		t.Fatal(err)
	}
	_, used, err := parsed.Apply(objects())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]bool{true, false, false, true, false}, used); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
