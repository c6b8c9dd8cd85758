package directory

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// A directory holds the tree of one estate, and no other one of that estate: their
// lists carry the same first line, so the topmost list of an inner tree would be
// taken for that of a namespace of the outer one, and be rewritten.
//
//	kustomization.yaml            another estate's: so is the directory
//	acme/dc1/*.yaml               another estate's, of its gateway acme/dc1: so is the directory
//	prod/kustomization.yaml       ours, and lists nothing: an inner tree without gateways
//	prod/acme/kustomization.yaml  ours, and no gateway's: an inner tree, unless gateways' files are in prod
//	prod/kustomization.yaml       another estate's: of an inner tree, which is none of our business

const (
	oneEstate = "two estates can't share a directory: choose another one, or remove the old files if the Estate was renamed"
	oneTree   = "a tree can't stand in another: choose another directory"
)

// foreign notes a file that makes the directory another estate's: the first one, or
// the topmost list.
func (t *tree) foreign(file, estate string, owner vpn.Owner) {
	if makesItTheirs(file, owner) && (t.theirs == "" || owner.IsZero()) {
		t.theirs = file + " is a file of estate " + estate
	}
}

func makesItTheirs(file string, owner vpn.Owner) bool {
	id, folder, known := resource.TreeID(file)
	if owner.IsZero() {
		return id == indexID(resource.TreeRoot)
	}
	return known && folder == place(owner)
}

// innerList is the folder of the inner tree that a list of ours belongs to, as far as
// can be told from this file alone.
func innerList(file, content string, owner vpn.Owner) (folder string, ok bool) {
	if !owner.IsZero() {
		return "", false
	}
	switch id, _, _ := resource.TreeID(file); {
	case id.Kind != resource.KindKustomization:
		return "", false
	case id.Namespace != "":
		return id.Namespace, true
	default:
		return id.Name, id.Name != resource.TreeRoot && strings.HasSuffix(content, "\nresources: []\n")
	}
}

// neighbours refuses a directory that is another estate's, and inner trees. Where
// gateways' files are, a list is not that of an inner tree: it only went astray.
func (t *tree) neighbours() {
	if t.theirs != "" {
		t.against(t.theirs, oneEstate)
	}
	populated := map[string]bool{}
	for id, r := range t.seen.Graph {
		if r.Owner != "" {
			populated[id.Namespace] = true
		}
	}
	for _, folder := range slices.Sorted(maps.Keys(t.inner)) {
		if !populated[folder] {
			t.against(folder+" is a tree of estate "+t.estate+" in itself", oneTree+", or remove one of them")
			continue
		}
		for _, file := range t.inner[folder] {
			t.astray(file, vpn.Owner{})
		}
	}
}

// outer refuses a directory in another tree of the estate, as deep as that one is
// looked through.
func (t *tree) outer(root string) {
	at, err := filepath.Abs(root)
	if err != nil {
		return // reading it says so
	}
	for range maxDepth {
		at = filepath.Dir(at)
		estate, _, marked := mark(beginning(filepath.Join(at, resource.TreePath("", indexID(resource.TreeRoot)))))
		if marked && estate == t.estate {
			t.against("the directory lies in a tree of estate "+estate, oneTree)
			return
		}
	}
}

// beginning is enough of a file to hold a marker; nothing of one that can't be read,
// or is no regular one.
func beginning(name string) []byte {
	if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	head := make([]byte, longestMarker)
	n, _ := f.Read(head)
	return head[:n]
}

// against refuses the directory as a whole.
func (t *tree) against(message, hint string) {
	t.seen.Problems = append(t.seen.Problems, plan.Refusal{ID: indexID(resource.TreeRoot), Message: message, Hint: hint})
}

// indexID is the list of a namespace, or of all namespaces.
func indexID(folder string) resource.ID {
	return resource.ID{Kind: resource.KindKustomization, Name: folder}
}
