package kube

import (
	"context"
	"fmt"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/vpnctl/vpnctl/cloud"
	vpnv1alpha1 "github.com/vpnctl/vpnctl/crds/vpn/v1alpha1"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/alloc"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/state"
)

// page is how many objects one answer holds.
const page = 500

// Observe lists every kind once, side by side, and the nodes; where a pod isn't
// available, the pods too.
func (d *Driver) Observe(ctx context.Context, e vpn.Estate, _ cloud.Scope) (*cloud.Observation, error) {
	lists := make([][]unstructured.Unstructured, len(kinds)+1)
	errs := make([]error, len(lists))
	var wait sync.WaitGroup
	var vault vault
	for i, k := range kinds {
		if k.secret {
			wait.Go(func() { vault, errs[i] = d.secrets(ctx, e) })
			continue
		}
		wait.Go(func() { lists[i], errs[i] = d.listKind(ctx, k, e.Name) })
	}
	wait.Go(func() { lists[len(kinds)], errs[len(kinds)] = d.list(ctx, nodes, "") })
	wait.Wait()
	if err := cloud.Gather(errs); err != nil {
		return nil, err
	}
	facts, err := nodeFacts(lists[len(kinds)])
	if err != nil {
		return nil, err
	}
	o := &sighting{estate: e, seen: &cloud.Observation{
		Graph: resource.Graph{}, Facts: resource.Facts{Nodes: facts, Gateways: map[string]resource.GatewayFacts{}},
	}}
	o.manifests()
	for i, k := range kinds {
		for j := range lists[i] {
			o.add(k, &lists[i][j])
		}
		if k.name == kindDeployment {
			var notice []plan.Notice
			o.seen.Rollouts, notice = d.rollouts(ctx, e.Name, lists[i], facts)
			o.seen.Notices = append(o.seen.Notices, notice...)
		}
	}
	o.keys(vault)
	if err := d.namespaces(ctx, o); err != nil {
		return nil, err
	}
	return o.seen, d.children(ctx, o)
}

// listKind lists what is ours of a kind, and of manifests all that there are.
func (d *Driver) listKind(ctx context.Context, k kind, estate string) ([]unstructured.Unstructured, error) {
	selector := state.LabelManagedBy + "=vpnctl," + state.LabelEstate + "=" + estate
	if k.manifest {
		selector = ""
	}
	items, err := d.list(ctx, k.resource, selector)
	return items, notInstalled(k, err)
}

// notInstalled explains that a cluster doesn't know a kind, where it has to.
func notInstalled(k kind, err error) error {
	switch {
	case apierrors.IsNotFound(err) && k.optional:
		return nil
	case apierrors.IsNotFound(err) && k.manifest:
		return fmt.Errorf("the cluster doesn't know the kind %s: install the CRDs, vpnctl crds | kubectl apply -f -", k.name)
	}
	return err
}

// forbidden is what the server says to an account that lacks a right.
type forbidden struct{ error }

func (e forbidden) Unwrap() error   { return e.error }
func (forbidden) Is(err error) bool { return err == cloud.ErrForbidden }

// list reads all pages of a list. One that ended early is read once more as a whole.
func (d *Driver) list(ctx context.Context, r schema.GroupVersionResource, selector string) ([]unstructured.Unstructured, error) {
	return d.listIn(ctx, r, "", selector)
}

// listIn is list in one namespace.
func (d *Driver) listIn(ctx context.Context, r schema.GroupVersionResource, namespace, selector string) ([]unstructured.Unstructured, error) {
	var all []unstructured.Unstructured
	o := metav1.ListOptions{LabelSelector: selector, Limit: page}
	for {
		l, err := d.api.Resource(r).Namespace(namespace).List(ctx, o)
		if apierrors.IsResourceExpired(err) && o.Continue != "" {
			all, o = nil, metav1.ListOptions{LabelSelector: selector}
			continue
		}
		if apierrors.IsForbidden(err) {
			return nil, fmt.Errorf("listing %s: %w: a ClusterRole with the verb list on %s, bound to this account, lets it", r.GroupResource(), forbidden{err}, r.GroupResource())
		}
		if err != nil {
			return nil, fmt.Errorf("listing %s: %w", r.GroupResource(), err)
		}
		all = append(all, l.Items...)
		if o.Continue = l.GetContinue(); o.Continue == "" {
			return all, nil
		}
	}
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
}

// manifests notes down what the estate's manifests are.
func (s *sighting) manifests() {
	s.owners, s.gateways, s.uids = map[resource.ID]vpn.Owner{}, map[resource.ID]vpn.Owner{}, map[types.UID]vpn.Owner{}
	s.told = map[vpn.Owner]alloc.Operated{}
	for _, g := range s.estate.Gateways {
		s.gateways[resource.ID{Kind: resource.KubernetesKind(g.Owner.Kind), Namespace: g.Owner.Namespace, Name: g.Owner.Name}] = g.Owner
		for _, m := range g.Manifests {
			s.owners[resource.ID{Kind: resource.KubernetesKind(m.Kind), Namespace: m.Namespace, Name: m.Name}] = g.Owner
		}
	}
}

// handApplied is the rule by which a manifest without our labels is taken over.
const handApplied = "the same manifest, applied by another hand"

// add puts an object into the graph, if it is ours or may become so.
func (s *sighting) add(k kind, u *unstructured.Unstructured) {
	r := observed(k, u)
	owner, marked := ours(u, s.estate.Name)
	written, wanted := s.owners[r.ID]
	gateway, known := s.gateways[r.ID]
	if known {
		s.uids[u.GetUID()] = gateway
		s.told[gateway] = allocated(gateway, u)
	}
	switch {
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
