package kube

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/state"
)

const kindDeployment = "Deployment"

// Rollouts tell of the gateways' Deployments, by owner (text), whether their pods run.
func (d *Driver) Rollouts(ctx context.Context, estate string) (map[string]cloud.Rollout, error) {
	k, _ := kindOf(kindDeployment)
	list, err := d.listKind(ctx, k, estate)
	if err != nil {
		return nil, err
	}
	all, _ := d.rollouts(ctx, estate, list, nil)
	return all, nil
}

// rollouts tell of the Deployments that are ours whether their pods run, by owner. Of
// those that don't the pods are asked, once for all; if that isn't allowed, the
// Deployment's own words have to do, and a notice says so. Of the nodes that are known,
// one that is lost is named where it keeps a pod from ending.
func (d *Driver) rollouts(ctx context.Context, estate string, deployments []unstructured.Unstructured, known []resource.Node) (map[string]cloud.Rollout, []plan.Notice) {
	all := map[string]cloud.Rollout{}
	var asked bool
	var pods map[string]string
	var unseen error
	for i := range deployments {
		owner, marked := ours(&deployments[i], estate)
		if !marked || owner.IsZero() {
			continue
		}
		r := rollout(&deployments[i])
		if !r.Available {
			if !asked {
				pods, unseen = d.podTroubles(ctx, estate, lost(known))
				asked = true
			}
			if why := pods[owner.Path()]; why != "" {
				r.Message = why
			}
		}
		all[owner.String()] = r
	}
	if errors.Is(unseen, cloud.ErrForbidden) {
		return all, []plan.Notice{{Message: "why pods don't run can't be seen: " + unseen.Error()}}
	}
	return all, nil
}

// rollout tells whether the pod that a Deployment asks for by now is available.
func rollout(u *unstructured.Unstructured) cloud.Rollout {
	var d appsv1.Deployment
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &d); err != nil {
		return cloud.Rollout{Message: "the Deployment can't be read: " + err.Error()}
	}
	switch {
	case d.Status.ObservedGeneration < d.Generation:
		return cloud.Rollout{Message: "the Deployment was just changed"}
	case d.Spec.Replicas != nil && *d.Spec.Replicas == 0:
		return cloud.Rollout{Message: "the Deployment is scaled to zero"}
	}
	for _, of := range []struct {
		kind   appsv1.DeploymentConditionType
		status corev1.ConditionStatus
	}{{appsv1.DeploymentReplicaFailure, corev1.ConditionTrue}, {appsv1.DeploymentProgressing, corev1.ConditionFalse}, {appsv1.DeploymentAvailable, corev1.ConditionFalse}} {
		for _, c := range d.Status.Conditions {
			if c.Type == of.kind && c.Status == of.status {
				return cloud.Rollout{Message: c.Message}
			}
		}
	}
	switch {
	case d.Status.UpdatedReplicas == 0:
		return cloud.Rollout{Message: "the pod is not there yet"}
	case d.Status.AvailableReplicas == 0:
		return cloud.Rollout{Message: "the pod is not ready yet"}
	}
	return cloud.Rollout{Available: true}
}

// podTroubles say why pods of gateways aren't ready, by the gateway's path.
func (d *Driver) podTroubles(ctx context.Context, estate string, lost map[string]bool) (map[string]string, error) {
	list, err := d.list(ctx, pods, state.LabelManagedBy+"=vpnctl,"+state.LabelEstate+"="+estate)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(list, func(a, b unstructured.Unstructured) int {
		return a.GetCreationTimestamp().Compare(b.GetCreationTimestamp().Time)
	})
	all := map[string]string{}
	for i := range list { // the youngest counts
		var p corev1.Pod
		if runtime.DefaultUnstructuredConverter.FromUnstructured(list[i].Object, &p) == nil {
			if why := trouble(&p, lost); why != "" {
				all[p.Namespace+"/"+p.Labels[state.LabelGateway]] = why
			}
		}
	}
	return all, nil
}

// lost are the nodes that don't answer.
func lost(known []resource.Node) map[string]bool {
	all := map[string]bool{}
	for _, n := range known {
		all[n.Name] = n.Problem == notReady
	}
	return all
}

// trouble says why a pod isn't ready, empty where it doesn't tell.
func trouble(p *corev1.Pod, lost map[string]bool) string {
	if p.DeletionTimestamp != nil && lost[p.Spec.NodeName] {
		return fmt.Sprintf("%s is not ready: pod %s can't end there, and the next one waits for that; delete the Node object if it is gone for good", p.Spec.NodeName, p.Name)
	}
	if p.DeletionTimestamp != nil {
		return fmt.Sprintf("pod %s is ending", p.Name)
	}
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			return fmt.Sprintf("pod %s has no node: %s", p.Name, c.Message)
		}
	}
	var parts []string
	for _, c := range slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses) {
		switch {
		case c.State.Waiting != nil && c.State.Waiting.Reason != "PodInitializing":
			parts = append(parts, strings.TrimSuffix(fmt.Sprintf("container %s waits: %s: %s", c.Name, c.State.Waiting.Reason, c.State.Waiting.Message), ": "))
		case c.State.Terminated != nil && c.State.Terminated.ExitCode != 0:
			parts = append(parts, fmt.Sprintf("container %s ended with %d: %s", c.Name, c.State.Terminated.ExitCode, c.State.Terminated.Reason))
		case c.State.Running != nil && !c.Ready:
			parts = append(parts, fmt.Sprintf("container %s is not ready", c.Name))
		}
	}
	switch {
	case len(parts) > 0:
		return fmt.Sprintf("pod %s: %s", p.Name, strings.Join(parts, "; "))
	case p.Status.Message != "":
		return fmt.Sprintf("pod %s: %s", p.Name, p.Status.Message)
	case p.Status.Phase == corev1.PodPending:
		return fmt.Sprintf("pod %s is pending", p.Name)
	}
	return ""
}
