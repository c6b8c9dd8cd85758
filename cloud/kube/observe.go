package kube

import (
	"context"
	"maps"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/vpnctl/vpnctl/cloud"
	vpnv1alpha1 "github.com/vpnctl/vpnctl/crds/vpn/v1alpha1"
	"github.com/vpnctl/vpnctl/plan/alloc"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/state"
)

// Observe lists every kind once, a few side by side, and the nodes; where a pod isn't
// available, the pods too. Of each object only what counts is kept.
func (d *Driver) Observe(ctx context.Context, e vpn.Estate, _ cloud.Scope) (*cloud.Observation, error) {
	all := newSighting(e)
	parts, errs := make([]*sighting, len(kinds)), make([]error, len(kinds)+1)
	var facts []resource.Node
	var vault vault
	var wait sync.WaitGroup
	turns := make(chan struct{}, together)
	beside := func(look func()) {
		wait.Go(func() {
			turns <- struct{}{}
			defer func() { <-turns }()
			look()
		})
	}
	for i, k := range kinds {
		beside(func() {
			if k.secret {
				vault, errs[i] = d.secrets(ctx, e)
			} else {
				parts[i], errs[i] = d.sight(ctx, k, all)
			}
		})
	}
	beside(func() { facts, errs[len(kinds)] = d.nodes(ctx) })
	wait.Wait()
	if err := cloud.Gather(errs); err != nil {
		return nil, err
	}
	all.seen.Facts.Nodes = facts
	for i, k := range kinds {
		if !k.secret {
			all.join(parts[i])
		}
		if k.name == kindDeployment {
			notices := d.explain(ctx, e.Name, all.seen.Rollouts, facts)
			all.seen.Notices = append(all.seen.Notices, notices...)
		}
	}
	all.keys(vault)
	if err := d.namespaces(ctx, all); err != nil {
		return nil, err
	}
	return all.seen, d.children(ctx, all)
}

// sight is what there is of one kind.
func (d *Driver) sight(ctx context.Context, k kind, of *sighting) (*sighting, error) {
	part := of.part()
	err := d.eachOf(ctx, k, of.estate.Name, reading[unstructured.Unstructured]{
		take: func(u *unstructured.Unstructured) { part.add(k, u) },
		anew: func() { part = of.part() },
	})
	return part, err
}

// nodes are those that there are.
func (d *Driver) nodes(ctx context.Context) ([]resource.Node, error) {
	list, err := d.list(ctx, nodes, "")
	if err != nil {
		return nil, err
	}
	return nodeFacts(list)
}

// ofEstate selects what carries the estate's labels.
func ofEstate(name string) string {
	return state.LabelManagedBy + "=vpnctl," + state.LabelEstate + "=" + name
}

// sighting gathers what the lists hold.
type sighting struct {
	estate    vpn.Estate
	seen      *cloud.Observation
	owners    map[resource.ID]vpn.Owner    // of the manifests that were read
	gateways  map[resource.ID]vpn.Owner    // by their own manifest
	uids      map[types.UID]vpn.Owner      // of the gateways' manifests that are in the cluster
	generated []unstructured.Unstructured  // private keys that an operator has made
	told      map[vpn.Owner]alloc.Operated // of the gateways' manifests that are in the cluster: what their statuses say
	texts     map[string]string            // that many objects have in common, once
}

// newSighting knows the estate's manifests, and has seen nothing.
func newSighting(e vpn.Estate) *sighting {
	s := (&sighting{estate: e, owners: map[resource.ID]vpn.Owner{}, gateways: map[resource.ID]vpn.Owner{}}).part()
	for _, g := range e.Gateways {
		s.gateways[resource.ID{Kind: resource.KubernetesKind(g.Owner.Kind), Namespace: g.Owner.Namespace, Name: g.Owner.Name}] = g.Owner
		for _, m := range g.Manifests {
			s.owners[resource.ID{Kind: resource.KubernetesKind(m.Kind), Namespace: m.Namespace, Name: m.Name}] = g.Owner
		}
	}
	for _, l := range e.Links {
		for _, m := range l.Manifests {
			s.owners[resource.ID{Kind: resource.KubernetesKind(m.Kind), Name: m.Name}] = l.Owner
		}
	}
	return s
}

// part is a sighting of the same estate in which nothing was seen yet.
func (s *sighting) part() *sighting {
	return &sighting{
		estate: s.estate, owners: s.owners, gateways: s.gateways,
		uids: map[types.UID]vpn.Owner{}, told: map[vpn.Owner]alloc.Operated{}, texts: map[string]string{},
		seen: &cloud.Observation{Graph: resource.Graph{}, Rollouts: map[string]cloud.Rollout{}, Facts: resource.Facts{Gateways: map[string]resource.GatewayFacts{}}},
	}
}

// join adds what a part has seen.
func (s *sighting) join(p *sighting) {
	s.seen.Graph.Merge(p.seen.Graph)
	maps.Copy(s.seen.Rollouts, p.seen.Rollouts)
	maps.Copy(s.uids, p.uids)
	maps.Copy(s.told, p.told)
	s.seen.Claims = append(s.seen.Claims, p.seen.Claims...)
	s.seen.Unknown = append(s.seen.Unknown, p.seen.Unknown...)
	s.seen.Operated = append(s.seen.Operated, p.seen.Operated...)
	s.seen.Ownerless = append(s.seen.Ownerless, p.seen.Ownerless...)
	s.seen.Loose = append(s.seen.Loose, p.seen.Loose...)
}

// once is a text that is equal to another one, and held once.
func (s *sighting) once(text string) string {
	if held, known := s.texts[text]; known {
		return held
	}
	s.texts[text] = text
	return text
}

// handApplied is the rule by which a manifest without our labels is taken over.
const handApplied = "the same manifest, applied by another hand"

// add puts an object into the graph, if it is ours or may become so.
func (s *sighting) add(k kind, u *unstructured.Unstructured) {
	r := observed(k, u)
	for i, m := range r.Object.Live.Managers {
		r.Object.Live.Managers[i].Name, r.Object.Live.Managers[i].FieldsV1 = s.once(m.Name), s.once(m.FieldsV1)
	}
	owner, marked := ours(u, s.estate.Name)
	copied := marked && !owner.IsZero() && !k.manifest && !bearsName(owner, u.GetName())
	if k.name == kindDeployment && marked && !owner.IsZero() && !copied {
		s.seen.Rollouts[owner.String()] = rollout(u)
	}
	written, wanted := s.owners[r.ID]
	gateway, known := s.gateways[r.ID]
	if known {
		s.uids[u.GetUID()] = gateway
		s.told[gateway] = allocated(gateway, u)
	}
	switch {
	case copied:
		return
	case marked && !owner.IsZero():
		r.Owner, r.Proof = owner.String(), "label "+state.LabelEstate+"="+s.estate.Name
	case marked && wanted:
		r.Owner, r.Proof = written.String(), "label "+state.LabelEstate+"="+s.estate.Name
	case marked:
		s.seen.Ownerless = append(s.seen.Ownerless, r)
		return
	case k.manifest && wanted && u.GetLabels()[state.LabelEstate] == "":
		r.Owner, r.Adopt = written.String(), handApplied
	case known: // its people keep it
		return
	case k.manifest:
		s.claim(r.ID, u)
		s.leaves(r, u)
		s.loose(r, u)
		return
	default:
		return
	}
	s.seen.Graph.Add(r)
}

// loose takes down a manifest that nobody asks for, where it is no other estate's.
func (s *sighting) loose(r resource.Resource, u *unstructured.Unstructured) {
	if u.GetLabels()[state.LabelEstate] != "" {
		return
	}
	o := vpn.Owner{Kind: r.Object.Kind, Namespace: r.ID.Namespace, Name: r.ID.Name}
	if r.Object.Kind == vpnv1alpha1.KindVPNPeer {
		o.Kind = vpn.KindVPNGateway
		o.Name, _, _ = unstructured.NestedString(u.Object, "spec", "gatewayRef")
	}
	r.Owner = o.String()
	s.seen.Loose = append(s.seen.Loose, r)
}
