package directory

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/state"
)

// index is a list as it is written; of a gateway where one is given.
func index(estate string, owner vpn.Owner, entries ...string) string {
	list := " []\n"
	if len(entries) > 0 {
		list = "\n- " + strings.Join(entries, "\n- ") + "\n"
	}
	return state.Marker(estate, owner) + "\nkind: Kustomization\nresources:" + list
}

// TestNeighbours: a directory that holds other trees, or lies in one.
func TestNeighbours(t *testing.T) {
	none := vpn.Owner{}
	ours, theirs := configMap(body).Object.Content, state.Marker("other", dc1)+"\n"+body
	for sentence, c := range map[string]struct {
		files map[string]string // beside and below the directory deploy
		want  string            // what it is refused for; empty: it is not
	}{
		"nothing is there": {nil, ""},
		"our own tree": {map[string]string{"deploy/kustomization.yaml": index("prod", none, "acme"),
			"deploy/acme/kustomization.yaml": index("prod", none, "dc1"), "deploy/acme/dc1/configmap-dc1-nat.yaml": ours}, ""},
		"our own tree without gateways": {map[string]string{"deploy/kustomization.yaml": index("prod", none)}, ""},

		"another estate's list":                  {map[string]string{"deploy/kustomization.yaml": index("other", none, "acme")}, "kustomization.yaml is a file of estate other"},
		"another estate's gateway":               {map[string]string{"deploy/acme/dc1/configmap-dc1-nat.yaml": theirs}, "acme/dc1/configmap-dc1-nat.yaml is a file of estate other"},
		"a copy of another estate's file":        {map[string]string{"deploy/acme/dc2/configmap-dc1-nat.yaml": theirs}, ""},
		"a tree of another estate in a folder":   {map[string]string{"deploy/b/kustomization.yaml": index("other", none, "acme"), "deploy/b/acme/kustomization.yaml": index("other", none, "dc1")}, ""},
		"a tree of another estate around it":     {map[string]string{"kustomization.yaml": index("other", none, "acme")}, ""},
		"a tree of another estate side by side":  {map[string]string{"b/kustomization.yaml": index("other", none, "acme")}, ""},
		"another tree of ours, side by side":     {map[string]string{"b/kustomization.yaml": index("prod", none, "acme")}, ""},
		"another tree of ours in a folder":       {map[string]string{"deploy/b/kustomization.yaml": index("prod", none, "acme"), "deploy/b/acme/kustomization.yaml": index("prod", none, "dc1")}, "b is a tree of estate prod in itself"},
		"one without gateways in a folder":       {map[string]string{"deploy/b/kustomization.yaml": index("prod", none)}, "b is a tree of estate prod in itself"},
		"one two folders down":                   {map[string]string{"deploy/a/b/kustomization.yaml": index("prod", none, "acme")}, "a is a tree of estate prod in itself"},
		"one that is too deep to be met":         {map[string]string{"deploy/a/b/c/kustomization.yaml": index("prod", none, "acme")}, ""},
		"another tree of ours around it":         {map[string]string{"kustomization.yaml": index("prod", none, "acme")}, "the directory lies in a tree of estate prod"},
		"one around the folder around it":        {map[string]string{"../kustomization.yaml": index("prod", none, "acme")}, "the directory lies in a tree of estate prod"},
		"a gateway's folder":                     {map[string]string{"kustomization.yaml": index("prod", dc1, "configmap-dc1-nat.yaml")}, "the directory lies in a tree of estate prod"},
		"a list that people wrote, around it":    {map[string]string{"kustomization.yaml": "kind: Kustomization\n"}, ""},
		"a list that went to a gateway's folder": {map[string]string{"deploy/acme/dc1/kustomization.yaml": index("prod", none, "dc1"), "deploy/acme/dc1/configmap-dc1-nat.yaml": ours}, ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			around := filepath.Join(t.TempDir(), "around")
			for name, content := range c.files {
				put(t, around, name, content)
			}
			var got []string
			for _, r := range observe(t, filepath.Join(around, "deploy")).Problems {
				if !r.Owner.IsZero() || r.Hint == "" {
					t.Errorf("%v: about one gateway, or without a hint", r)
				}
				got = append(got, r.Message)
			}
			if diff := cmp.Diff(c.want, strings.Join(got, "\n")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestListsInTheWay: where the tree's own lists belong stands something else.
func TestListsInTheWay(t *testing.T) {
	gateway := resource.Graph{configMap(body).ID: configMap(body)}
	for sentence, c := range map[string]struct {
		file, content string
		want          string
	}{
		"the topmost one, by people":      {"kustomization.yaml", "kind: Kustomization\n", "kustomization.yaml"},
		"a namespace's, by people":        {"acme/kustomization.yaml", "kind: Kustomization\n", "acme/kustomization.yaml"},
		"another namespace's, by people":  {"globex/kustomization.yaml", "kind: Kustomization\n", ""},
		"a namespace's, another estate's": {"acme/kustomization.yaml", index("other", vpn.Owner{}, "dc1"), "acme/kustomization.yaml"},
		"the topmost one is ours":         {"kustomization.yaml", index("prod", vpn.Owner{}, "acme"), ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			root := t.TempDir()
			put(t, root, c.file, c.content)
			refusals, err := New(root).Obstacles(t.Context(), gateway, observe(t, root).Graph)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, r := range refusals {
				if !r.Owner.IsZero() {
					t.Errorf("%v is about one gateway", r)
				}
				got = append(got, strings.TrimSuffix(r.Message, " is there already, and vpnctl didn't write it for this estate"))
			}
			if diff := cmp.Diff(c.want, strings.Join(got, "\n")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
