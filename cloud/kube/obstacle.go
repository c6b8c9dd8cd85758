package kube

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/state"
)

// few is how many objects of a kind in a namespace are asked for one by one; more are
// listed.
const few = 4

// place is where objects of a kind are.
type place struct{ kind, namespace string }

// Obstacles names what stands where a desired object should that Observe didn't see as
// ours, and kinds that the cluster doesn't know. Only metadata are read; what may not be
// read is left to the apply, which looks as well.
func (d *Driver) Obstacles(ctx context.Context, desired, observed resource.Graph) ([]plan.Refusal, error) {
	missing := map[place][]resource.Resource{}
	for id, r := range desired {
		if r.Object == nil || r.Object.Kind == kindSecret {
			continue
		}
		if _, seen := observed[id]; !seen {
			at := place{r.Object.Kind, id.Namespace}
			missing[at] = append(missing[at], r)
		}
	}
	var refusals []plan.Refusal
	for _, at := range slices.SortedFunc(maps.Keys(missing), func(a, b place) int {
		return cmp.Or(cmp.Compare(a.namespace, b.namespace), cmp.Compare(a.kind, b.kind))
	}) {
		k, known := kindOf(at.kind)
		if !known {
			continue
		}
		found, err := d.standing(ctx, k, at.namespace, missing[at])
		switch {
		case apierrors.IsForbidden(err):
			continue
		case apierrors.IsNotFound(err):
			for _, r := range missing[at] {
				refusals = append(refusals, unknownKind(k, r))
			}
			continue
		case err != nil:
			return nil, err
		}
		for _, r := range missing[at] {
			if have, there := found[r.ID.Name]; there {
				refusals = append(refusals, obstacle(r, have)...)
			}
		}
	}
	slices.SortFunc(refusals, func(a, b plan.Refusal) int { return cmp.Or(a.Owner.Compare(b.Owner), a.ID.Compare(b.ID)) })
	return refusals, nil
}

// standing are the metadata of those of some objects that are there. A kind that the
// cluster may not know is always listed: its error tells.
func (d *Driver) standing(ctx context.Context, k kind, namespace string, wanted []resource.Resource) (map[string]*metav1.PartialObjectMetadata, error) {
	found := map[string]*metav1.PartialObjectMetadata{}
	at := d.meta.Resource(k.resource).Namespace(namespace)
	if len(wanted) <= few && !k.optional {
		for _, r := range wanted {
			m, err := at.Get(ctx, r.ID.Name, metav1.GetOptions{})
			switch {
			case apierrors.IsNotFound(err):
			case err != nil:
				return nil, fmt.Errorf("looking whether %s is there: %w", r.ID, err)
			default:
				found[r.ID.Name] = m
			}
		}
		return found, nil
	}
	names := map[string]bool{}
	for _, r := range wanted {
		names[r.ID.Name] = true
	}
	err := d.eachPlate(ctx, k.resource, namespace, "", reading[metav1.PartialObjectMetadata]{
		take: func(m *metav1.PartialObjectMetadata) {
			if names[m.Name] {
				one := *m
				found[m.Name] = &one
			}
		},
		anew: func() { clear(found) },
	})
	if err != nil {
		return nil, fmt.Errorf("listing %s of %s: %w", k.resource.GroupResource(), namespace, err)
	}
	return found, nil
}

func unknownKind(k kind, r resource.Resource) plan.Refusal {
	owner, _ := vpn.ParseOwner(r.Owner)
	return plan.Refusal{Owner: owner, ID: r.ID, Message: k.unserved(), Hint: install[k.name]}
}

// obstacle refuses an object that stands where a desired one should. Ours may have lost
// its annotation or its labels, or come since the lists: to write it is right.
func obstacle(r resource.Resource, have *metav1.PartialObjectMetadata) []plan.Refusal {
	meta, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&have.ObjectMeta)
	if err != nil {
		return nil
	}
	labels := have.Labels
	estate := wantedEstate(r)
	if bereft(have, estate, r.Owner) {
		return nil
	}
	if _, marked := ours(&unstructured.Unstructured{Object: map[string]any{"metadata": meta}}, estate); marked {
		return nil
	}
	owner, _ := vpn.ParseOwner(r.Owner)
	if slices.ContainsFunc(have.OwnerReferences, func(o metav1.OwnerReference) bool { return o.Kind == owner.Kind && o.Name == owner.Name }) {
		return nil // Observe says what is to be done
	}
	refusal := plan.Refusal{Owner: owner, ID: r.ID, Hint: "remove it, or give the gateway another name"}
	switch {
	case labels[state.LabelManagedBy] == "vpnctl" && labels[state.LabelEstate] != "":
		refusal.Message = "it stands already, and is that of estate " + labels[state.LabelEstate]
	default:
		refusal.Message = "it stands already, and is not ours: made by " + maker(have)
	}
	return []plan.Refusal{refusal}
}

// wantedEstate is the estate that a desired object names.
func wantedEstate(r resource.Resource) string {
	u, err := document(&r)
	if err != nil {
		return ""
	}
	return u.GetLabels()[state.LabelEstate]
}

// maker is who has made an object, as far as it tells.
func maker(m *metav1.PartialObjectMetadata) string {
	if by := m.Labels[state.LabelManagedBy]; by != "" {
		return by
	}
	first := ""
	for _, e := range m.ManagedFields {
		if e.Subresource == "" && (first == "" || e.Operation == metav1.ManagedFieldsOperationApply) {
			first = e.Manager
		}
	}
	return cmp.Or(first, "someone else")
}
