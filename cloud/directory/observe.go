package directory

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/state"
)

// Observe reads the tree: every file of the estate, and as nodes those that the
// estate's file names. A file that can't be read is an error. A directory that isn't
// there is an empty one.
func (d *Driver) Observe(ctx context.Context, e vpn.Estate, _ cloud.Scope) (*cloud.Observation, error) {
	o := &cloud.Observation{Graph: resource.Graph{}, Facts: resource.Facts{Gateways: map[string]resource.GatewayFacts{}}}
	for _, n := range e.Kubernetes.Nodes {
		o.Facts.Nodes = append(o.Facts.Nodes, resource.Node{Name: n.Name, ServerID: n.ServerID, Ready: true})
	}
	root, err := d.open()
	if errors.Is(err, fs.ErrNotExist) {
		return o, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the directory: %w", err)
	}
	defer root.Close()
	t := tree{ctx: ctx, root: root, estate: e.Name, seen: o}
	if err := fs.WalkDir(root.FS(), ".", t.visit); err != nil {
		return nil, fmt.Errorf("reading %s: %w", d.root, err)
	}
	return o, nil
}

// tree is one walk.
type tree struct {
	ctx    context.Context
	root   *os.Root
	estate string
	seen   *cloud.Observation
}

// maxDepth is that of a gateway's files: below the folders of its namespace and name.
const maxDepth = 3

func (t *tree) visit(file string, entry fs.DirEntry, err error) error {
	switch {
	case err != nil:
		return err
	case t.ctx.Err() != nil:
		return t.ctx.Err()
	case file == ".":
		return nil
	case entry.IsDir() && (strings.HasPrefix(entry.Name(), ".") || strings.Count(file, "/") >= maxDepth-1):
		return fs.SkipDir
	case !entry.Type().IsRegular() || strings.HasPrefix(entry.Name(), ".") || path.Ext(file) != ".yaml":
		return nil
	}
	content, owner, ours, err := t.read(file)
	if err != nil || !ours {
		return err
	}
	t.add(file, content, owner)
	return nil
}

// longestMarker bounds what is read of a file that isn't ours.
const longestMarker = 512

// read returns a file of this estate.
func (t *tree) read(file string) (content string, owner vpn.Owner, ours bool, err error) {
	f, err := t.root.Open(file)
	if err != nil {
		return "", owner, false, err
	}
	defer f.Close()
	head := make([]byte, longestMarker)
	n, err := f.Read(head)
	if n == 0 && err != nil {
		return "", owner, false, ignoreEOF(err)
	}
	if owner, ours = mark(head[:n], t.estate); !ours {
		return "", owner, false, nil
	}
	rest := bytes.NewBuffer(head[:n])
	if _, err := rest.ReadFrom(f); err != nil {
		return "", owner, false, err
	}
	return rest.String(), owner, true, nil
}

// mark reads the marker on the first line of a text.
func mark(text []byte, estate string) (vpn.Owner, bool) {
	line, _, found := bytes.Cut(text, []byte("\n"))
	if !found {
		return vpn.Owner{}, false
	}
	name, owner, ours := state.ReadMarker(string(line))
	return owner, ours && name == estate
}

// add puts a file into the graph, under the ID that its place gives it.
func (t *tree) add(file, content string, owner vpn.Owner) {
	id, folder, known := resource.TreeID(file)
	if !known || folder != place(owner) {
		t.seen.Notices = append(t.seen.Notices, plan.Notice{
			Message: fmt.Sprintf("%s carries the marker of %s, whose files don't lie there: left alone", file, whose(owner)),
			Hint:    "a copy of a file of ours should lose its first line",
		})
		return
	}
	o := head(content)
	o.Path, o.Content = file, content
	if id.Kind == resource.KindKustomization {
		o.Namespace, o.Name = id.Namespace, id.Name
	}
	r := resource.Resource{ID: id, Ref: file, Object: &o, Proof: "marker of " + whose(owner)}
	if !owner.IsZero() {
		r.Owner = owner.String()
	}
	if other, twice := t.seen.Graph[id]; twice {
		t.seen.Problems = append(t.seen.Problems, plan.Refusal{
			Owner: owner, ID: id, Message: fmt.Sprintf("%s and %s are one object in two files", other.Ref, file),
			Hint: "delete the one that doesn't belong",
		})
	}
	t.seen.Graph.Add(r)
}

// place is the folder of an owner's files; those of the estate itself have none.
func place(owner vpn.Owner) string {
	if owner.IsZero() {
		return ""
	}
	return owner.Path()
}

func whose(owner vpn.Owner) string {
	if owner.IsZero() {
		return "the estate"
	}
	return owner.String()
}
