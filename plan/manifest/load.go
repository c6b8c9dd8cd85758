package manifest

import (
	"cmp"
	"io"
	"os"
	"path/filepath"
	"slices"

	estatev1alpha1 "github.com/vpnctl/vpnctl/crds/estate/v1alpha1"
	ipsecv1alpha1 "github.com/vpnctl/vpnctl/crds/ipsec/v1alpha1"
	vpnv1alpha1 "github.com/vpnctl/vpnctl/crds/vpn/v1alpha1"
	"github.com/vpnctl/vpnctl/plan/manifest/decode"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// Options say where to read from besides the paths.
type Options struct {
	EstateFile string    // default: the nearest vpnctl.yaml upwards of the paths
	Stdin      io.Reader // what the path - stands for; default: standard input
	Survey     bool      // look through the Estate's folder for what was left out; costs reading that
}

// Loaded is the result of reading manifests. The objects as they were written
// go with their gateways, in vpn.Gateway.Manifests.
type Loaded struct {
	Estate vpn.Estate  // complete, and set only when there was no error
	Root   string      // the folder of the Estate's file, that its directory is relative to
	Files  int         // how many were read; a kustomization counts as one
	Notes  Diagnostics // what was left out on purpose

	// With Options.Survey: whom manifests describe that were not read, below the Estate's
	// folder and the folders that were searched, and in which file. Nobody among them is
	// gone.
	Unread      map[vpn.Owner]string
	UnreadPeers map[string]string // by namespace/gateway/peer; tunnels of an IPsecGateway too
	Obscure     []string          // files, folders and links there that were not looked into, sorted: they may hold anybody's manifest
}

// Load reads files, directories, kustomizations and standard input ("-"); no
// path stands for the working directory, which is read only where it belongs to an
// Estate. It returns everything that is to be
// told. Where that holds an error, the Estate is empty: incomplete input is no
// input. Loaded itself is never nil.
func Load(paths []string, o Options) (*Loaded, Diagnostics) {
	nowhere := len(paths) == 0
	if nowhere {
		paths = []string{"."}
	}
	r := &reading{decoder: new(decode.Decoder)}
	loaded := &Loaded{Unread: map[vpn.Owner]string{}, UnreadPeers: map[string]string{}}
	name := r.estateFile(paths, o.EstateFile)
	if name == "" && nowhere {
		r.noEstate(paths[0])
		return loaded, r.found
	}
	estateObj, src := r.sources(name, paths, o)
	files := src.files
	loaded.Files = len(files)
	var objects []*object
	for _, f := range files {
		objects = append(objects, r.documents(f)...)
	}
	estateObj = r.onlyEstate(estateObj, objects)
	e := r.estate(estateObj, cmp.Or(name, paths[0]))
	if estateObj != nil {
		loaded.Root = filepath.Dir(estateObj.file)
	}
	r.objectsInto(&e, r.unique(objects))
	loaded.Notes = r.notes.sort()
	found := r.found.sort()
	if found.Errors() == 0 {
		loaded.Estate = e
		if o.Survey && estateObj != nil && estateObj.file != stdinName {
			r.survey(src, loaded)
		}
	}
	return loaded, found
}

// reading is the state of one Load.
type reading struct {
	decoder *decode.Decoder
	found   Diagnostics
	notes   Diagnostics
	bases   map[string][]decode.Document // those of files that kustomizations are made of
	lost    bool                         // a document could not be read, so something may seem to be missing
	broken  bool                         // one of those is meant to be a manifest

	settings   check // of the Estate, once it was read
	sourceless bool  // the Estate was read, and names no internal sources: not even unreadable ones
}

// sources finds the Estate's file and reads all others.
func (r *reading) sources(name string, paths []string, o Options) (*object, *source) {
	src := r.source(o.Stdin)
	src.estate = name
	if src.stdin == nil {
		src.stdin = os.Stdin
	}
	var estateObj *object
	if name != "" {
		estateObj = r.estateObject(name)
		if estateObj == nil && o.EstateFile != "" && r.found.Errors() == 0 {
			r.failFile(name, refuse("holds no Estate"))
		}
		src.output = output(estateObj, r.wire(estateObj))
	}
	src.paths(paths)
	if name != "" && !slices.ContainsFunc(src.files, func(f file) bool { return sameFile(f.name, name) }) {
		r.alone(name, estateObj)
		src.files = append(src.files, file{name: name})
		src.seen[src.key(name)] = true
	}
	return estateObj, src
}

// documents reads the objects of one file.
func (r *reading) documents(f file) []*object {
	if f.placeless {
		return r.builtObjects(f)
	}
	docs, problems := decode.Documents(f.data)
	r.undecodable(f, problems)
	var out []*object
	for _, d := range docs {
		out = append(out, r.objects(f, d.Index, d.Root)...)
	}
	return out
}

// builtObjects reads what a kustomization gives.
func (r *reading) builtObjects(f file) []*object {
	var out []*object
	for i, b := range f.built {
		docs, problems := decode.Documents(b.data)
		r.undecodable(f, problems)
		f.origin = b.origin
		for _, d := range docs {
			out = append(out, r.objects(f, i+1, d.Root)...)
		}
	}
	return out
}

// undecodable reports documents that are not YAML.
func (r *reading) undecodable(f file, problems []decode.Problem) {
	for _, p := range problems {
		r.lost, r.broken = true, true
		d := Diagnostic{File: f.name, Line: p.Line, Column: p.Column, Field: p.Field, Message: p.Message, Hint: p.Hint, Severity: Error}
		if f.placeless {
			d.Line, d.Column = 0, 0
		}
		r.found = append(r.found, d)
	}
}

// unique drops objects that were already read, and says where.
func (r *reading) unique(objects []*object) []*object {
	slices.SortStableFunc(objects, func(a, b *object) int {
		return cmp.Or(a.position("").compare(b.position("")), cmp.Compare(a.document, b.document))
	})
	first := map[string]*object{}
	var out []*object
	for _, o := range objects {
		if o.kind == estatev1alpha1.KindEstate {
			continue
		}
		if f, dup := first[o.String()]; dup {
			again, once := o.asRead(), f.asRead()
			check{again, &r.found}.fail("metadata.name", refuse("a second %s; the first is %s", o, once.position("")), once.position(""))
			continue
		}
		first[o.String()] = o
		out = append(out, o)
	}
	return out
}

// wire decodes an Estate without a word about what is wrong with it.
func (r *reading) wire(o *object) estatev1alpha1.Estate {
	var w estatev1alpha1.Estate
	if o != nil {
		r.decoder.Into(o.root, &w)
	}
	return w
}

// estate reads the Estate, which every run needs. Without one the place that it
// was looked for in is named, unless something there could not be read.
func (r *reading) estate(o *object, place string) vpn.Estate {
	if o == nil {
		if !r.lost && r.found.Errors() == 0 {
			r.noEstate(place)
		}
		return vpn.Estate{}
	}
	c := check{o, &r.found}
	var w estatev1alpha1.Estate
	c.unreadable(r.decoder.Into(o.root, &w))
	r.settings, r.sourceless = c, c.sourceless()
	return estate(c, w)
}

// objectsInto reads gateways, peers and links and checks them against each other.
func (r *reading) objectsInto(e *vpn.Estate, objects []*object) {
	var gateways []*gateway
	var parties []*party
	var links []*link
	for _, o := range objects {
		c := check{o, &r.found}
		c.annotations()
		switch o.kind {
		case vpnv1alpha1.KindVPNGateway:
			gateways = append(gateways, vpnGateway(c, into[vpnv1alpha1.VPNGateway](r, c)))
		case ipsecv1alpha1.KindIPsecGateway:
			gateways = append(gateways, ipsecGateway(c, into[ipsecv1alpha1.IPsecGateway](r, c)))
		case vpnv1alpha1.KindVPNPeer:
			parties = append(parties, vpnPeer(c, into[vpnv1alpha1.VPNPeer](r, c)))
		case ipsecv1alpha1.KindClusterLink:
			links = append(links, clusterLink(c, into[ipsecv1alpha1.ClusterLink](r, c)))
		}
	}
	all := relations{reading: r, estate: e, gateways: gateways, parties: parties, links: links}
	all.check()
	for _, g := range gateways {
		e.Gateways = append(e.Gateways, g.finish())
	}
	for _, l := range links {
		e.Links = append(e.Links, l.finish())
	}
	slices.SortFunc(e.Gateways, func(a, b vpn.Gateway) int { return a.Owner.Compare(b.Owner) })
	slices.SortFunc(e.Links, func(a, b vpn.Link) int { return a.Owner.Compare(b.Owner) })
}

// into decodes an object as a wire type. Its status is never looked at: that is
// written by others, and an exported object has one.
func into[T any](r *reading, c check) T {
	var w T
	c.unreadable(r.decoder.Into(c.root.Without("status"), &w))
	return w
}
