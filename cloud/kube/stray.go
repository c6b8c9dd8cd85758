package kube

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/state"
)

// Strays looks for objects of gateways that go which Observe didn't see as ours, because
// another hand took their labels. Metadata are listed, of the gateways' namespaces, or of
// all where those are many; only what was found is read.
//
//	the object                                            it is
//	names the gateway, we wrote it, nobody else's marks   found
//	is called as no object of a gateway is                left alone: it is a copy
//	a Deployment that runs the gateway's pod all the same refused
//	any other                                             left alone
func (d *Driver) Strays(ctx context.Context, estate string, leaving []vpn.Owner, observed resource.Graph) ([]resource.Resource, []plan.Refusal, error) {
	s := strays{Driver: d, estate: estate, observed: observed, texts: map[string]vpn.Owner{}, names: map[resource.ID]vpn.Owner{}}
	spaces := map[string]bool{}
	for _, o := range leaving {
		s.texts[o.String()] = o
		s.names[resource.ID{Kind: resource.KubernetesKind(kindDeployment), Namespace: o.Namespace, Name: o.Name}] = o
		spaces[o.Namespace] = true
	}
	if len(spaces) > few {
		spaces = map[string]bool{"": true}
	}
	for _, k := range kinds {
		if k.manifest {
			continue
		}
		for namespace := range spaces {
			if err := s.search(ctx, k, namespace); err != nil {
				return nil, nil, err
			}
		}
	}
	return s.found, s.refused, nil
}

// strays are those that were found so far.
type strays struct {
	*Driver
	estate   string
	observed resource.Graph
	texts    map[string]vpn.Owner      // who goes, by how annotations spell it
	names    map[resource.ID]vpn.Owner // and by its Deployment
	found    []resource.Resource
	refused  []plan.Refusal
}

func (s *strays) search(ctx context.Context, k kind, namespace string) error {
	var items []metav1.PartialObjectMetadata
	all := collecting(&items)
	err := s.eachPlate(ctx, k.resource, namespace, "", reading[metav1.PartialObjectMetadata]{anew: all.anew, take: func(m *metav1.PartialObjectMetadata) {
		if _, seen := s.observed[idOf(k, m)]; !seen {
			all.take(m)
		}
	}})
	switch {
	case apierrors.IsNotFound(err) && k.optional, apierrors.IsForbidden(err) && k.secret:
		return nil
	case err != nil:
		return fmt.Errorf("listing %s: %w", k.resource.GroupResource(), err)
	}
	for i := range items {
		m := &items[i]
		id := idOf(k, m)
		o, says := s.texts[m.Annotations[resource.OwnerAnnotation]]
		runs, named := s.names[id]
		switch {
		case says && !bearsName(o, m.Name), k.secret && m.Name != o.Name+vpn.GeneratedKeySuffix:
		case says && o.Namespace == m.Namespace && bereft(m, s.estate, o.String()):
			err = s.find(ctx, k, id, o)
		case named:
			err = s.judge(ctx, k, id, runs)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// find takes down what is to go with its gateway.
func (s *strays) find(ctx context.Context, k kind, id resource.ID, o vpn.Owner) error {
	u, err := s.look(ctx, k, id.Namespace, id.Name)
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return fmt.Errorf("reading %s: %w", id, err)
	case !bereft(u, s.estate, o.String()):
		return nil // it came to be another's meanwhile; removing looks as well
	}
	r := observed(k, u)
	r.Owner, r.Proof = o.String(), "annotation "+resource.OwnerAnnotation+"="+o.String()
	s.found = append(s.found, r)
	return nil
}

// judge refuses a Deployment whose pod is the gateway's, though it doesn't say so itself:
// what its pod uses is not taken from under it.
func (s *strays) judge(ctx context.Context, k kind, id resource.ID, o vpn.Owner) error {
	u, err := s.look(ctx, k, id.Namespace, id.Name)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading %s: %w", id, err)
	}
	of, _, _ := unstructured.NestedStringMap(u.Object, "spec", "template", "metadata", "labels")
	if of[state.LabelEstate] != s.estate || of[state.LabelGateway] != o.Name {
		return nil
	}
	s.refused = append(s.refused, plan.Refusal{
		Owner: o, ID: id, Message: "it runs the gateway's pod, but no longer says whose it is: nothing is taken from under that pod",
		Hint: fmt.Sprintf("delete the Deployment, or put its labels and the annotation %s=%s back", resource.OwnerAnnotation, o),
	})
	return nil
}

func idOf(k kind, m metav1.Object) resource.ID {
	return resource.ID{Kind: resource.KubernetesKind(k.name), Namespace: m.GetNamespace(), Name: m.GetName()}
}
