package kube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/state"
)

// operator is the label of the operator's Deployment.
const operator = "app.kubernetes.io/name=bnerd-vpn-operator"

// operatorStopped tells whether no operator looks after the gateways: somebody says so, or
// its Deployment is at zero. Whoever can't see that gets to know why.
func (d *Driver) operatorStopped(ctx context.Context) (bool, []plan.Notice, error) {
	if d.options.OperatorStopped {
		return true, nil, nil
	}
	k, _ := kindOf(kindDeployment)
	list, err := d.list(ctx, k.resource, operator)
	if errors.Is(err, cloud.ErrForbidden) {
		return false, []plan.Notice{{Message: "whether the operator is stopped can't be seen: " + err.Error(), Hint: "say --operator-stopped, once it is"}}, nil
	}
	if err != nil {
		return false, nil, err
	}
	for i := range list {
		wanted, said, _ := unstructured.NestedInt64(list[i].Object, "spec", "replicas")
		there, _, _ := unstructured.NestedInt64(list[i].Object, "status", "replicas")
		if !said || wanted > 0 || there > 0 {
			return false, nil, nil
		}
	}
	return len(list) > 0, nil, nil // one that isn't found may run elsewhere
}

// children looks for what an operator has made of gateways whose manifests are in the
// cluster and that have no Deployment of ours yet: objects that the manifest owns. A
// private key counts as long as it is owned so.
func (d *Driver) children(ctx context.Context, s *sighting) error {
	var found []child
	for i := range s.generated {
		if k, _ := kindOf(kindSecret); s.owner(&s.generated[i], s.uids) != nil {
			found = append(found, child{k, &s.generated[i]})
		}
	}
	near := map[string]map[types.UID]vpn.Owner{} // by namespace
	for uid, o := range s.uids {
		id := resource.ID{Kind: resource.KubernetesKind(kindDeployment), Namespace: o.Namespace, Name: o.Name}
		if _, deployed := s.seen.Graph[id]; deployed {
			continue
		}
		if near[o.Namespace] == nil {
			near[o.Namespace] = map[types.UID]vpn.Owner{}
		}
		near[o.Namespace][uid] = o
	}
	for _, namespace := range slices.Sorted(maps.Keys(near)) {
		for _, k := range kinds {
			if k.manifest || k.secret {
				continue
			}
			some, err := d.childrenIn(ctx, s, k, namespace, near[namespace])
			if err != nil {
				return err
			}
			found = append(found, some...)
		}
	}
	s.operated(found)
	allocated := func(o vpn.Owner) bool { return s.told[o].ServiceCIDR.IsValid() }
	if len(found) == 0 && !slices.ContainsFunc(undeployed(near), allocated) {
		return nil
	}
	stopped, notices, err := d.operatorStopped(ctx)
	s.seen.OperatorStopped = stopped
	for _, c := range found {
		s.enter(c, stopped)
	}
	if len(found) > 0 {
		s.seen.Notices = append(s.seen.Notices, notices...)
	}
	return err
}

// childrenIn are those of a kind in a namespace. What carries our labels is none, and is
// not read again.
func (d *Driver) childrenIn(ctx context.Context, s *sighting, k kind, namespace string, of map[types.UID]vpn.Owner) ([]child, error) {
	var found []child
	for _, selector := range []string{state.LabelManagedBy + "!=vpnctl", state.LabelManagedBy + "=vpnctl," + state.LabelEstate + "!=" + s.estate.Name} {
		before := found
		err := d.each(ctx, k.resource, namespace, selector, reading[unstructured.Unstructured]{
			take: func(u *unstructured.Unstructured) {
				if s.owner(u, of) != nil {
					one := *u
					found = append(found, child{k, &one})
				}
			},
			anew: func() { found = before },
		})
		if apierrors.IsNotFound(err) && k.optional {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// undeployed are the gateways that have no Deployment of ours.
func undeployed(near map[string]map[types.UID]vpn.Owner) []vpn.Owner {
	var all []vpn.Owner
	for _, of := range near {
		all = slices.AppendSeq(all, maps.Values(of))
	}
	return all
}

// child is an object that an operator has made.
type child struct {
	kind   kind
	object *unstructured.Unstructured
}

// owner is the gateway whose manifest owns an object that isn't marked as ours, of those
// that are given; nil: none.
func (s *sighting) owner(u *unstructured.Unstructured, of map[types.UID]vpn.Owner) *vpn.Owner {
	if _, marked := ours(u, s.estate.Name); marked {
		return nil
	}
	for _, ref := range u.GetOwnerReferences() {
		if o, is := of[ref.UID]; is {
			return &o
		}
	}
	return nil
}

// enter puts what an operator has made into the graph, or says why it can't be taken over.
func (s *sighting) enter(c child, stopped bool) {
	r, o := observed(c.kind, c.object), *s.owner(c.object, s.uids)
	if !stopped {
		s.seen.Problems = append(s.seen.Problems, plan.Refusal{
			Owner: o, ID: r.ID, Message: fmt.Sprintf("an operator has made it: %s owns it", o),
			Hint: "stop the operator for good, and plan with --operator-stopped: what it made is then taken over",
		})
		return
	}
	r.Owner, r.Adopt = o.String(), cloud.OperatorMade
	s.seen.Graph.Add(r)
}

// takeOver puts what is wanted in the place of an operator's object, marked as ours and
// without its manifest's ownership, at one stroke: from here on it is ours, whatever
// comes between. Labels and annotations of others stay. One that can't become what is
// wanted is removed first; then nothing is returned.
func (d *Driver) takeOver(ctx context.Context, k kind, have, want *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	if inTheWay(k, have, want) {
		uid, foreground := have.GetUID(), metav1.DeletePropagationForeground
		err := d.objects(k, have.GetNamespace()).Delete(ctx, have.GetName(), metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}, PropagationPolicy: &foreground})
		if err != nil && !apierrors.IsNotFound(err) {
			return nil, explained(err)
		}
		return nil, d.gone(ctx, k, have)
	}
	taken := want.DeepCopy()
	taken.SetUID(have.GetUID())
	taken.SetResourceVersion(have.GetResourceVersion())
	taken.SetFinalizers(have.GetFinalizers())
	taken.SetLabels(joined(have.GetLabels(), want.GetLabels()))
	taken.SetAnnotations(joined(have.GetAnnotations(), want.GetAnnotations()))
	taken.SetManagedFields([]metav1.ManagedFieldsEntry{{}}) // which forgets who wrote what
	owner, _ := vpn.ParseOwner(want.GetAnnotations()[resource.OwnerAnnotation])
	if others := disowned(have, owner); len(others) > 0 {
		taken.SetOwnerReferences(others)
	}
	patch, err := becoming(have, taken)
	if err != nil {
		return nil, err
	}
	got, err := d.objects(k, have.GetNamespace()).Patch(ctx, have.GetName(), types.MergePatchType, patch, metav1.PatchOptions{FieldManager: Manager})
	return got, explained(err)
}

// inTheWay tells whether an object can't become what is wanted: fields differ that nobody
// may change.
func inTheWay(k kind, have, want *unstructured.Unstructured) bool {
	path := map[string][]string{kindDeployment: {"spec", "selector"}, kindRoleBinding: {"roleRef"}}[k.name]
	if path == nil {
		return false
	}
	was, _, _ := unstructured.NestedFieldNoCopy(have.Object, path...)
	is, there, _ := unstructured.NestedFieldNoCopy(want.Object, path...)
	return there && !covers(was, is)
}

// becoming is the patch that does to an object, as long as it is as it was seen, what an
// update with another would do. An account that may apply may patch, and needs no more.
func becoming(have, want *unstructured.Unstructured) ([]byte, error) {
	before, after := have.DeepCopy(), want.DeepCopy()
	for _, u := range []*unstructured.Unstructured{before, after} {
		delete(u.Object, "status")
		for _, field := range []string{"creationTimestamp", "generation"} { // which only the server writes
			unstructured.RemoveNestedField(u.Object, "metadata", field)
		}
	}
	before.SetUID("") // so that the patch says it
	before.SetResourceVersion("")
	a, err := before.MarshalJSON()
	if err != nil {
		return nil, err
	}
	b, err := after.MarshalJSON()
	if err != nil {
		return nil, err
	}
	return jsonpatch.CreateMergePatch(a, b)
}

// disowned are the owners of an object without a gateway's manifest.
func disowned(have *unstructured.Unstructured, o vpn.Owner) []metav1.OwnerReference {
	return slices.DeleteFunc(have.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return r.Kind == o.Kind && r.Name == o.Name })
}

// joined are both, the latter's where they differ.
func joined(a, b map[string]string) map[string]string {
	all := maps.Clone(a)
	if all == nil {
		return b
	}
	maps.Copy(all, b)
	return all
}

// disclaim drops what Manager holds of an object by an update, once it holds it by apply:
// a field that is no longer applied would stay otherwise. Controllers write to what has
// just been applied: then it is looked at once more.
func (d *Driver) disclaim(ctx context.Context, k kind, u *unstructured.Unstructured) error {
	uid := u.GetUID()
	for tries := 1; ; tries++ {
		kept := slices.DeleteFunc(u.GetManagedFields(), func(e metav1.ManagedFieldsEntry) bool {
			return e.Manager == Manager && e.Operation == metav1.ManagedFieldsOperationUpdate && e.Subresource == ""
		})
		patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
			"uid": string(uid), "resourceVersion": u.GetResourceVersion(), "managedFields": kept,
		}})
		if err != nil {
			return err
		}
		_, err = d.objects(k, u.GetNamespace()).Patch(ctx, u.GetName(), types.MergePatchType, patch, metav1.PatchOptions{FieldManager: Manager})
		if !apierrors.IsConflict(err) || tries == disclaims {
			return explained(ignoreGone(err))
		}
		if u, err = d.objects(k, u.GetNamespace()).Get(ctx, u.GetName(), metav1.GetOptions{}); err != nil {
			return explained(ignoreGone(err))
		}
	}
}

// disclaims is how often that is tried.
const disclaims = 5

// covers tells whether two values that can't be changed are the same, as far as the
// wanted one says anything.
func covers(have, want any) bool {
	w, ok := want.(map[string]any)
	h, is := have.(map[string]any)
	if !ok || !is {
		return reflect.DeepEqual(have, want)
	}
	if len(h) != len(w) {
		return false
	}
	for name, v := range w {
		if !covers(h[name], v) {
			return false
		}
	}
	return true
}
