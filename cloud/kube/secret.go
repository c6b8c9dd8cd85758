package kube

import (
	"cmp"
	"context"
	"fmt"
	"maps"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/state"
)

const kindSecret = "Secret"

// vault is which Secrets there are.
type vault struct {
	all    []unstructured.Unstructured // kind, name and metadata; of the gateways' namespaces, and ours
	unseen error                       // why they can't be seen
}

// secrets lists the metadata of all Secrets. That they may not be listed is no error.
func (d *Driver) secrets(ctx context.Context, e vpn.Estate) (vault, error) {
	near := map[string]bool{}
	for _, g := range e.Gateways {
		near[g.Owner.Namespace] = true
	}
	var v vault
	o := metav1.ListOptions{Limit: page}
	for {
		l, err := d.meta.Resource(secrets).List(ctx, o)
		switch {
		case apierrors.IsForbidden(err):
			return vault{unseen: err}, nil
		case apierrors.IsResourceExpired(err) && o.Continue != "":
			v, o = vault{}, metav1.ListOptions{}
			continue
		case err != nil:
			return vault{}, fmt.Errorf("listing secrets: %w", err)
		}
		for i := range l.Items {
			m := &l.Items[i]
			if !near[m.Namespace] && m.Labels[state.LabelEstate] != e.Name {
				continue
			}
			u, err := nameplate(m)
			if err != nil {
				return vault{}, err
			}
			v.all = append(v.all, u)
		}
		if o.Continue = l.Continue; o.Continue == "" {
			return v, nil
		}
	}
}

// nameplate is a Secret without what it holds.
func nameplate(m *metav1.PartialObjectMetadata) (unstructured.Unstructured, error) {
	meta, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&m.ObjectMeta)
	if err != nil {
		return unstructured.Unstructured{}, fmt.Errorf("secret %s/%s: %w", m.Namespace, m.Name, err)
	}
	return unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": kindSecret, "metadata": meta}}, nil
}

// keys puts the gateways' private keys into the graph: those of ours, and for gateways
// that name no Secret whatever stands under the name that theirs would have.
//
//	the gateway     the Secret            in the graph
//	names none      ours                  as it is
//	names none      ours, unlabelled      as it is: it gets its labels back
//	names none      an operator's         as it is: taken over, see children
//	names none      by another hand       as it should be: it serves, and is left alone
//	names none      can't be seen         as it should be, with a notice
//	names one       ours, from before     no: it goes with the gateway
//	is gone         ours                  as it is: it goes
//	any             another name, a copy  no: whatever marks it carries
//	any             a manifest names it   no: its people keep it
func (s *sighting) keys(v vault) {
	wanted := map[resource.ID]vpn.Gateway{}
	named, inUse := map[vpn.Owner]bool{}, map[string]bool{}
	for _, g := range s.estate.Gateways {
		if g.WireGuard != nil && g.WireGuard.GeneratedKey {
			wanted[keyID(g)] = g
		} else {
			named[g.Owner] = true
		}
		for _, ref := range given(g) {
			inUse[g.Owner.Namespace+"/"+ref.Name] = true
		}
	}
	if v.unseen != nil {
		s.blind(v.unseen)
		for _, g := range wanted {
			s.stands(g, "")
		}
		return
	}
	s.seen.Secrets = map[string]string{}
	k, _ := kindOf(kindSecret)
	for i := range v.all {
		u := &v.all[i]
		s.seen.Secrets[u.GetNamespace()+"/"+u.GetName()] = u.GetResourceVersion()
		owner, marked := ours(u, s.estate.Name)
		g, want := wanted[resource.ID{Kind: resource.KubernetesKind(kindSecret), Namespace: u.GetNamespace(), Name: u.GetName()}]
		switch {
		case marked && !want && (u.GetName() != keyName(u, owner) || inUse[u.GetNamespace()+"/"+u.GetName()]):
		case marked && !named[owner]:
			s.add(k, u)
		case want && !marked && bereft(u, s.estate.Name, g.Owner.String()):
			r := observed(k, u)
			r.Owner, r.Proof = g.Owner.String(), "annotation "+resource.OwnerAnnotation+"="+g.Owner.String()
			s.seen.Graph.Add(r)
		case want && !marked && s.owner(u, s.uids) != nil:
			s.generated = append(s.generated, *u)
		case want && !marked:
			s.stands(g, string(u.GetUID()))
		}
	}
}

// given are the Secrets that a gateway's manifests name.
func given(g vpn.Gateway) []vpn.SecretRef {
	var all []vpn.SecretRef
	if w := g.WireGuard; w != nil && !w.GeneratedKey {
		all = append(all, w.PrivateKey)
	}
	for _, p := range g.Peers {
		all = append(all, p.PSK, p.PresharedKey)
	}
	return all
}

// keyName is the only name under which a gateway's key is made: that of the owner, or of
// whom the label names where the owner isn't told.
func keyName(u *unstructured.Unstructured, owner vpn.Owner) string {
	return cmp.Or(owner.Name, u.GetLabels()[state.LabelGateway]) + vpn.GeneratedKeySuffix
}

func keyID(g vpn.Gateway) resource.ID {
	return resource.ID{Kind: resource.KubernetesKind(kindSecret), Namespace: g.Owner.Namespace, Name: g.WireGuard.PrivateKey.Name}
}

// blind says what can't be seen.
func (s *sighting) blind(why error) {
	if len(s.estate.Gateways) > 0 {
		s.seen.Notices = append(s.seen.Notices, plan.Notice{
			Message: "Secrets can't be seen, so whether keys are there is not known: " + why.Error(),
			Hint:    "allow list of secrets, of which vpnctl reads the metadata alone",
		})
	}
}

// stands puts a key that is to be left alone into the graph, as what is wanted, but
// without a proof that it is ours.
func (s *sighting) stands(g vpn.Gateway, uid string) {
	labels := map[string]any{}
	for name, v := range state.Labels(s.estate.Name, g.Owner) {
		labels[name] = v
	}
	notes := map[string]any{}
	for name, v := range state.Annotations(g.Owner) {
		notes[name] = v
	}
	id := keyID(g)
	s.seen.Graph.Add(resource.Resource{
		ID: id, Owner: g.Owner.String(), Ref: uid,
		Object: &resource.Object{APIVersion: "v1", Kind: kindSecret, Namespace: id.Namespace, Name: id.Name, Live: &resource.Live{
			JSON: packed(map[string]any{"apiVersion": "v1", "kind": kindSecret, "metadata": map[string]any{"name": id.Name, "namespace": id.Namespace, "labels": labels, "annotations": notes}}),
			UID:  uid,
		}},
	})
}

// Missing tells which keys of Secrets are not in the cluster, by namespace. The values
// are dropped at once. What may not be read counts as there, with a notice.
func (d *Driver) Missing(ctx context.Context, wanted map[string][]vpn.SecretRef) (map[string][]vpn.SecretRef, []plan.Notice, error) {
	missing := map[string][]vpn.SecretRef{}
	var notices []plan.Notice
	for namespace, refs := range wanted {
		held := map[string]map[string]bool{}
		for _, ref := range refs {
			keys, looked := held[ref.Name]
			if !looked {
				var err error
				keys, err = d.keysOf(ctx, namespace, ref.Name)
				switch {
				case apierrors.IsForbidden(err):
					keys = nil
					notices = append(notices, plan.Notice{Message: fmt.Sprintf("whether Secret %s/%s has what is asked of it can't be seen: %v", namespace, ref.Name, err)})
				case err != nil:
					return nil, nil, err
				}
				held[ref.Name] = keys
			}
			if keys != nil && !keys[ref.Key] {
				missing[namespace] = append(missing[namespace], ref)
			}
		}
	}
	return missing, notices, nil
}

// keysOf are the names of what a Secret holds that isn't empty; none where it isn't there.
func (d *Driver) keysOf(ctx context.Context, namespace, name string) (map[string]bool, error) {
	data, _, err := d.open(ctx, namespace, name)
	keys := map[string]bool{}
	for key := range maps.Keys(data) {
		keys[key] = data[key] != ""
	}
	return keys, err
}

// open reads a Secret. Whoever calls it keeps nothing of the values, and no error has
// any of them.
func (d *Driver) open(ctx context.Context, namespace, name string) (data map[string]string, there bool, err error) {
	k, _ := kindOf(kindSecret)
	u, err := d.objects(k, namespace).Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil, false, nil
	case err != nil && ctx.Err() == nil && apierrors.ReasonForError(err) == metav1.StatusReasonUnknown:
		return nil, false, fmt.Errorf("reading Secret %s/%s: the cluster gave no answer that can be read", namespace, name)
	case err != nil:
		return nil, false, fmt.Errorf("reading Secret %s/%s: %w", namespace, name, err)
	}
	data, _, err = unstructured.NestedStringMap(u.Object, "data")
	if err != nil {
		return nil, true, fmt.Errorf("reading Secret %s/%s: its data can't be read", namespace, name)
	}
	return data, true, nil
}
