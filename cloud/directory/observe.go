package directory

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
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
	t := tree{ctx: ctx, estate: e.Name, seen: o, inner: map[string][]string{}}
	t.outer(d.root)
	root, err := d.open()
	if errors.Is(err, fs.ErrNotExist) {
		return o, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the directory: %w", err)
	}
	defer root.Close()
	if err := t.folder(root, ""); err != nil {
		return nil, fmt.Errorf("reading %s: %w", d.root, err)
	}
	t.neighbours()
	return o, nil
}

// tree is one walk.
type tree struct {
	ctx    context.Context
	estate string
	seen   *cloud.Observation
	buffer bytes.Buffer
	theirs string              // what makes the directory another estate's; empty: nothing
	inner  map[string][]string // lists that may be those of an inner tree, by its folder
}

// maxDepth is that of the folders of gateways, below those of their namespaces.
const maxDepth = 2

// folder reads one folder, the files first. Every folder is a root of its own, which
// spares each file the way down. Links and hidden entries are passed by.
func (t *tree) folder(root *os.Root, name string) error {
	if err := t.ctx.Err(); err != nil {
		return err
	}
	entries, err := list(root)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			continue
		}
		child := path.Join(name, e.Name())
		switch {
		case e.IsDir() && depth(child) <= maxDepth:
			err = t.below(root, e.Name(), child)
		case e.Type().IsRegular() && path.Ext(child) == ".yaml":
			err = t.file(root, e.Name(), child)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func depth(name string) int { return strings.Count(name, "/") + 1 }

func list(root *os.Root) ([]fs.DirEntry, error) {
	f, err := root.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	entries, err := f.ReadDir(-1)
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, err
}

func (t *tree) below(root *os.Root, base, name string) error {
	sub, err := root.OpenRoot(base)
	if err != nil {
		return err
	}
	defer sub.Close()
	return t.folder(sub, name)
}

// longestMarker bounds what is read of a file that isn't ours.
const longestMarker = 512

// file reads a file, and adds it when it is one of this estate.
func (t *tree) file(root *os.Root, base, name string) error {
	f, err := root.Open(base)
	if err != nil {
		return err
	}
	defer f.Close()
	t.buffer.Reset()
	if _, err := io.CopyN(&t.buffer, f, longestMarker); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	estate, owner, marked := mark(t.buffer.Bytes())
	if !marked {
		return nil
	}
	if estate != t.estate {
		t.foreign(name, estate, owner)
		return nil
	}
	if _, err := t.buffer.ReadFrom(f); err != nil {
		return err
	}
	t.add(name, t.buffer.String(), owner)
	return nil
}

// mark reads the marker on the first line of a text.
func mark(text []byte) (estate string, owner vpn.Owner, marked bool) {
	line, _, found := bytes.Cut(text, []byte("\n"))
	if !found {
		return "", vpn.Owner{}, false
	}
	return state.ReadMarker(string(line))
}

// add puts a file into the graph, under the ID that its place gives it.
func (t *tree) add(file, content string, owner vpn.Owner) {
	if folder, ok := innerList(file, content, owner); ok {
		t.inner[folder] = append(t.inner[folder], file)
		return
	}
	id, folder, known := resource.TreeID(file)
	if !known || folder != place(owner) {
		t.astray(file, owner)
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

// astray notes a file that carries our marker where nothing of its owner belongs.
func (t *tree) astray(file string, owner vpn.Owner) {
	t.seen.Notices = append(t.seen.Notices, plan.Notice{
		Message: fmt.Sprintf("%s carries the marker of %s, whose files don't lie there: left alone", file, whose(owner)),
		Hint:    "a copy of a file of ours should lose its first line",
	})
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
