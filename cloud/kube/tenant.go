package kube

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/state"
)

// Tenants refuses the removal of gateways whose pods outlive their Deployment, as after
// kubectl delete --cascade=orphan: what a pod uses is not taken from under it. All pods of
// the estate are listed once. Where that isn't allowed, all of these are refused.
func (d *Driver) Tenants(ctx context.Context, estate string, departing []vpn.Owner) ([]plan.Refusal, error) {
	leaving, by := map[string]bool{}, map[string][]unstructured.Unstructured{}
	for _, o := range departing {
		leaving[o.Path()] = true
	}
	err := d.each(ctx, pods, "", ofEstate(estate), reading[unstructured.Unstructured]{
		take: func(u *unstructured.Unstructured) {
			if gateway := u.GetNamespace() + "/" + u.GetLabels()[state.LabelGateway]; leaving[gateway] {
				by[gateway] = append(by[gateway], tenant(u))
			}
		},
		anew: func() { clear(by) },
	})
	var unseen forbidden
	if err != nil && !errors.As(err, &unseen) {
		return nil, err
	}
	var refusals []plan.Refusal
	for _, o := range departing {
		id := resource.ID{Kind: resource.KubernetesKind(kindDeployment), Namespace: o.Namespace, Name: o.Name}
		switch who, hint := tenants(by[o.Path()]); {
		case err != nil:
			refusals = append(refusals, plan.Refusal{Owner: o, ID: id, Message: "whether its pod still runs can't be seen: " + err.Error(), Hint: "allow list of pods"})
		case who != "":
			refusals = append(refusals, plan.Refusal{Owner: o, ID: id, Message: who + ", though the Deployment is gone: nothing is taken from under it", Hint: hint})
		}
	}
	return refusals, nil
}

// tenant is what counts of a pod.
func tenant(u *unstructured.Unstructured) unstructured.Unstructured {
	status, _ := u.Object["status"].(map[string]any)
	u.SetManagedFields(nil)
	return unstructured.Unstructured{Object: map[string]any{"metadata": u.Object["metadata"], "status": map[string]any{"phase": status["phase"]}}}
}

// tenants says which pods still run, and what ends them; empty: none does.
func tenants(list []unstructured.Unstructured) (who, hint string) {
	var names, sets []string
	for i := range list {
		var p corev1.Pod
		if runtime.DefaultUnstructuredConverter.FromUnstructured(list[i].Object, &p) == nil && (p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed) {
			continue
		}
		name := "pod " + list[i].GetName()
		if by := metav1.GetControllerOf(&list[i]); by != nil {
			name += " of " + by.Kind + " " + by.Name
			if set := by.Kind + " " + by.Name; !slices.Contains(sets, set) {
				sets = append(sets, set)
			}
		}
		names = append(names, name)
	}
	if len(names) == 0 {
		return "", ""
	}
	slices.Sort(names)
	slices.Sort(sets)
	hint = "delete the pod; of a node that is gone for good, the Node"
	if len(sets) > 0 {
		hint = "delete the " + strings.Join(sets, " and the ") + "; of a node that is gone for good, the Node"
	}
	verb := map[bool]string{true: " still runs", false: " still run"}[len(names) == 1]
	return strings.Join(names, ", ") + verb, hint
}

// vacated waits until the pods of a Deployment that was removed are gone: they were left
// behind where it was deleted by another hand meanwhile.
func (d *Driver) vacated(ctx context.Context, c plan.Change) error {
	namespace, selector, some := occupants(c)
	if !some {
		return nil
	}
	late := time.NewTimer(d.options.Gone)
	defer late.Stop()
	for {
		list, err := d.listIn(ctx, pods, namespace, selector)
		if err != nil {
			return fmt.Errorf("whether its pod is gone can't be seen: %w", err)
		}
		who, hint := tenants(list)
		if who == "" {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-d.options.Stop:
			return fmt.Errorf("stopped while waiting for its pod: %s", who)
		case <-late.C:
			return fmt.Errorf("after %s %s: %s", d.options.Gone, who, hint)
		case <-time.After(d.options.Poll):
		}
	}
}

// occupants selects the pods of a Deployment that is removed. Whose pods don't carry the
// gateway's labels has none.
func occupants(c plan.Change) (namespace, selector string, some bool) {
	have, o := seen(c), vpn.Owner{}
	if have == nil || c.Before.Object.Kind != kindDeployment {
		return "", "", false
	}
	if o, some = vpn.ParseOwner(c.Before.Owner); !some {
		return "", "", false
	}
	labels, _, _ := unstructured.NestedStringMap(have.Object, "spec", "template", "metadata", "labels")
	if labels[state.LabelManagedBy] != "vpnctl" || labels[state.LabelGateway] != o.Name {
		return "", "", false
	}
	return o.Namespace, metav1.FormatLabelSelector(&metav1.LabelSelector{MatchLabels: map[string]string{
		state.LabelManagedBy: "vpnctl", state.LabelEstate: labels[state.LabelEstate], state.LabelGateway: o.Name,
	}}), true
}
