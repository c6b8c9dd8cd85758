package manifest

import (
	"path/filepath"
	"slices"
	"strings"

	estatev1alpha1 "github.com/vpnctl/vpnctl/crds/estate/v1alpha1"
	ipsecv1alpha1 "github.com/vpnctl/vpnctl/crds/ipsec/v1alpha1"
	vpnv1alpha1 "github.com/vpnctl/vpnctl/crds/vpn/v1alpha1"
	"github.com/vpnctl/vpnctl/plan/manifest/decode"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// Standing is a manifest as a cluster holds it.
type Standing struct {
	Kind, Namespace, Name string
	JSON                  []byte
}

// String names the manifest as diagnostics do: Kind namespace/name.
func (s Standing) String() string {
	return (&object{kind: s.Kind, namespace: s.Namespace, name: s.Name}).String()
}

// Cluster is what the manifests of a cluster say.
type Cluster struct {
	// Estate holds the gateways and links that are valid with all their peers. Their
	// manifests don't come along: people have written them, and keep them.
	Estate vpn.Estate
	// Invalid are the others, each with what is wrong with it or with a peer of it. A peer
	// that is not valid is still a peer: without it, others could be let in.
	Invalid map[vpn.Owner]Diagnostics
	// Unreadable are those of them whose own manifest has not the shape of its kind: an API
	// server that knows the kind by our definition refuses to take such a thing.
	Unreadable map[vpn.Owner]bool
	// Found is everything that is to be told of a manifest, by Standing.String.
	Found map[string]Diagnostics
}

// FromCluster reads the manifests that a cluster holds, and the Estate from its file.
// Of two that clash the one that comes later in the list is not valid; of two links the
// younger one. What is wrong
// with a manifest stays with its gateway; what is wrong with the Estate's file is
// returned, and then there is nothing else.
func FromCluster(estateFile string, held []Standing) (*Cluster, Diagnostics) {
	r := &reading{decoder: new(decode.Decoder)}
	name := filepath.Clean(estateFile)
	return r.cluster(name, r.estateObject(name), held)
}

// FromClusterText is FromCluster for an Estate's file that was read before. The name is
// that of diagnostics, and where what the Estate names relative to its file is.
func FromClusterText(estateFile string, text []byte, held []Standing) (*Cluster, Diagnostics) {
	r := &reading{decoder: new(decode.Decoder)}
	name := filepath.Clean(estateFile)
	var estate *object
	for _, o := range r.documents(file{name: name, data: text}) {
		if o.kind == estatev1alpha1.KindEstate && estate == nil {
			estate = o
		}
	}
	return r.cluster(name, estate, held)
}

func (r *reading) cluster(name string, o *object, held []Standing) (*Cluster, Diagnostics) {
	if o == nil && r.found.Errors() == 0 {
		r.failFile(name, refuse("holds no Estate"))
	}
	e := r.estate(o, name)
	if r.found.Errors() > 0 {
		return &Cluster{}, r.found.sort()
	}
	warnings := r.found
	r.found = nil
	var objects []*object
	for _, s := range held {
		objects = append(objects, r.documents(file{name: s.String(), data: s.JSON})...)
	}
	for _, o := range objects {
		o.placeless = true // one line of JSON is no place
	}
	byAge(objects)
	r.objectsInto(&e, objects)
	c := &Cluster{Estate: e, Invalid: map[vpn.Owner]Diagnostics{}, Unreadable: map[vpn.Owner]bool{}, Found: map[string]Diagnostics{}}
	for _, o := range objects {
		if len(o.broken) > 0 {
			c.Unreadable[vpn.Owner{Kind: o.kind, Namespace: o.namespace, Name: o.name}] = true
		}
	}
	for _, d := range r.found {
		d.Line, d.Column = 0, 0
		c.Found[d.File] = append(c.Found[d.File], d)
	}
	for _, s := range held {
		c.blame(s)
	}
	c.keepValid()
	return c, warnings.sort()
}

// byAge brings the links into the order in which they were made, after all others.
func byAge(objects []*object) {
	born := func(o *object) string { // RFC 3339, in UTC
		if v := o.root.Find("metadata.creationTimestamp"); v != nil && o.kind == ipsecv1alpha1.KindClusterLink {
			return v.Text
		}
		return ""
	}
	slices.SortStableFunc(objects, func(a, b *object) int { return strings.Compare(born(a), born(b)) })
}

// blame holds what is wrong with a manifest against the gateway that it belongs to.
func (c *Cluster) blame(s Standing) {
	wrong := c.Found[s.String()]
	if wrong.Errors() == 0 {
		return
	}
	owner := vpn.Owner{Kind: s.Kind, Namespace: s.Namespace, Name: s.Name}
	switch s.Kind {
	case vpnv1alpha1.KindVPNPeer:
		owner.Kind, owner.Name = vpn.KindVPNGateway, GatewayRef(s.JSON)
		if owner.Name == "" {
			return // it is nobody's peer
		}
	case ipsecv1alpha1.KindClusterLink:
		owner.Namespace = ""
	}
	c.Invalid[owner] = append(c.Invalid[owner], wrong...)
}

// Refuse holds against a gateway what the text of no manifest tells.
func (c *Cluster) Refuse(o vpn.Owner, d Diagnostic) {
	c.Invalid[o] = append(c.Invalid[o], d)
	c.keepValid()
}

// GatewayRef is the gateway that a VPNPeer names, empty where none can be read.
func GatewayRef(data []byte) string {
	docs, _ := decode.Documents(data)
	for _, d := range docs {
		if ref := d.Root.Find("spec.gatewayRef"); ref != nil {
			return ref.Text
		}
	}
	return ""
}

func (c *Cluster) keepValid() {
	c.Estate.Gateways = slices.DeleteFunc(c.Estate.Gateways, func(g vpn.Gateway) bool { _, bad := c.Invalid[g.Owner]; return bad })
	c.Estate.Links = slices.DeleteFunc(c.Estate.Links, func(l vpn.Link) bool { _, bad := c.Invalid[l.Owner]; return bad })
	for i := range c.Estate.Gateways {
		c.Estate.Gateways[i].Manifests = nil
	}
	for i := range c.Estate.Links {
		c.Estate.Links[i].Manifests = nil
	}
}

// LinkOf reads one ClusterLink as a cluster holds it, and finds what is wrong with it
// alone. With an error the link is what could be read of it, its annotations among that.
// Text that holds no ClusterLink is an error, and gives the zero Link.
func LinkOf(data []byte) (vpn.Link, Diagnostics) {
	r := &reading{decoder: new(decode.Decoder)}
	for _, o := range r.documents(file{name: ipsecv1alpha1.KindClusterLink, data: data}) {
		if o.kind == ipsecv1alpha1.KindClusterLink {
			o.placeless = true
			c := check{o, &r.found}
			return clusterLink(c, into[ipsecv1alpha1.ClusterLink](r, c)).model, r.found.sort()
		}
	}
	if r.found.Errors() == 0 {
		r.failFile(ipsecv1alpha1.KindClusterLink, refuse("holds no ClusterLink"))
	}
	return vpn.Link{}, r.found.sort()
}
