package render

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/vpnctl/vpnctl/plan/alloc"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/state"
)

// LinkInput is all that one link's resources follow from.
type LinkInput struct {
	Estate vpn.Estate
	Link   vpn.Link
	Ledger alloc.LinkLedger
	Router Router // what its serviceClusterRouter resolved to
	Facts  resource.Facts
	// Shared: another hand lets the customer's project use the transit network already.
	Shared bool
	// Customers and Operators say for people by whose credential the two sides are made.
	// Empty: both are in one project.
	Customers, Operators string
}

// Router is a service cluster's.
type Router struct {
	ID   string
	Name string `json:"-"` // for people
}

// Link returns everything that one link should have. The error is that of its manifest,
// which can't be written.
//
//	[manifest] security group → [network share] → transit leg → route → applied
//
// The manifest is written where there is a cluster: its status tells of the rest. The
// share is part of a link into a customer's project. The routes that reverse exposures
// need on the service cluster's router are their gateways'.
func Link(in LinkInput) (resource.Graph, error) {
	l := linking{in: in, owner: in.Link.Owner.String(), graph: resource.Graph{}}
	group, leg := l.id(resource.KindSecurityGroup), LegID(in.Link.Owner)
	if in.Estate.Kubernetes.Target == vpn.TargetCluster {
		if err := l.manifests(); err != nil {
			return nil, err
		}
	}
	l.add(resource.Resource{ID: group, SecurityGroup: &resource.SecurityGroup{Ledger: in.Ledger.Entries(), Rules: rules(vpn.Gateway{}, nil)}})
	before := []resource.ID{group}
	if in.Ledger.Cross() {
		share := l.id(resource.KindNetworkShare)
		l.add(resource.Resource{ID: share, NetworkShare: &resource.NetworkShare{
			Network: in.Facts.NetworkID, Project: in.Link.CustomerProject, Foreign: in.Shared, By: in.Operators, Attested: l.attested(),
		}}, group)
		before = append(before, share)
	}
	l.add(resource.Resource{ID: leg, TransitLeg: l.leg()}, before...)
	l.add(resource.Resource{ID: l.id(resource.KindRoute), Route: &resource.Route{
		Router: in.Facts.RouterID, RouterName: in.Estate.OpenStack.Router,
		Destination: in.Link.CIDR, NextHop: l.address(), By: in.Operators,
	}}, leg)
	l.add(resource.Resource{ID: l.id(resource.KindApplied), Applied: &resource.Applied{Hash: LinkHash(in), Abandoned: in.Link.Cross() && in.Link.Abandons()}}, l.graph.IDs()...)
	return l.graph, nil
}

// LinkManifest is the manifest alone of a link of which nothing else is to be changed;
// nothing where there is no cluster to write it to.
func LinkManifest(in LinkInput) (resource.Graph, error) {
	l := linking{in: in, owner: in.Link.Owner.String(), graph: resource.Graph{}}
	if in.Estate.Kubernetes.Target != vpn.TargetCluster {
		return l.graph, nil
	}
	return l.graph, l.manifests()
}

// LegID names a link's transit leg.
func LegID(o vpn.Owner) resource.ID {
	return resource.ID{Kind: resource.KindTransitLeg, Name: o.Name}
}

// linking is one call of Link.
type linking struct {
	in    LinkInput
	owner string
	graph resource.Graph
}

func (l *linking) id(k resource.Kind) resource.ID {
	return resource.ID{Kind: k, Name: l.in.Link.Owner.Name}
}

func (l *linking) add(r resource.Resource, needs ...resource.ID) {
	r.Owner, r.Needs = l.owner, needs
	l.graph.Add(r)
}

// manifests are the link's own, with our labels and annotations beside its own.
func (l *linking) manifests() error {
	o, estate := l.in.Link.Owner, l.in.Estate.Name
	for _, m := range l.in.Link.Manifests {
		text, err := written(m, state.Labels(estate, o), state.Annotations(o))
		if err != nil {
			return fmt.Errorf("writing %s %s: %w", m.Kind, m.Name, err)
		}
		l.add(resource.Resource{ID: resource.ID{Kind: resource.KubernetesKind(m.Kind), Name: m.Name}, Object: &resource.Object{
			APIVersion: m.APIVersion, Kind: m.Kind, Name: m.Name, Content: state.Marker(estate, o) + "\n" + text,
		}})
	}
	return nil
}

func (l *linking) leg() *resource.TransitLeg {
	return &resource.TransitLeg{
		Network: l.in.Facts.NetworkID, Address: l.address(),
		Router: l.in.Router.ID, RouterName: l.in.Router.Name,
		Project: l.in.Link.CustomerProject, Adopted: l.in.Ledger.Adopted != "", By: l.in.Customers,
	}
}

// attested is who has said that the customer's project may be joined, and when; empty:
// nobody.
func (l *linking) attested() string {
	a, err := l.in.Link.Attested()
	if err != nil {
		return ""
	}
	return a.String()
}

// address is the leg's: the one that was allocated here or, in a customer's project, that
// Neutron has allocated.
func (l *linking) address() string {
	if l.in.Ledger.Cross() {
		return text(l.in.Facts.Gateway(l.owner).PortAddress)
	}
	return text(l.in.Ledger.TransitIP)
}

// LinkHash is the intent behind a link in 16 characters, as Hash is that behind a gateway.
func LinkHash(in LinkInput) string {
	link := in.Link
	link.Position, link.Cloud, link.Credentials = "", "", vpn.NamespacedRef{}
	link.Annotations, link.Manifests = nil, nil
	data, err := json.Marshal(struct {
		Version string
		Estate  vpn.Estate
		Link    vpn.Link
		Router  string
		Ledger  []resource.Entry
	}{Version, settings(in.Estate), link, in.Router.ID, in.Ledger.Entries()})
	if err != nil {
		return "" // as in Hash
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:8])
}
