package kube

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/state"
)

const kindDeployment = "Deployment"

// Rollouts tell of the gateways' Deployments, by owner (text), whether their pods run.
func (d *Driver) Rollouts(ctx context.Context, estate string) (map[string]cloud.Rollout, error) {
	k, _ := kindOf(kindDeployment)
	part, err := d.sight(ctx, k, newSighting(vpn.Estate{Name: estate}))
	if err != nil {
		return nil, err
	}
	d.explain(ctx, estate, part.seen.Rollouts, nil)
	return part.seen.Rollouts, nil
}

// explain says of rollouts that aren't available what their pods tell, which are asked
// once for all; if that isn't allowed, the Deployment's own words have to do, and a
// notice says so. Of the nodes that are known, one that is lost is named where it keeps a
// pod from ending.
func (d *Driver) explain(ctx context.Context, estate string, rollouts map[string]cloud.Rollout, known []resource.Node) []plan.Notice {
	waiting := map[string]cloud.Rollout{}
	for text, r := range rollouts {
		if !r.Available {
			waiting[text] = r
		}
	}
	if len(waiting) == 0 {
		return nil
	}
	pods, err := d.podTroubles(ctx, estate, lost(known))
	for text, r := range waiting {
		owner, _ := vpn.ParseOwner(text)
		if why := pods[owner.Path()].why; why != "" {
			r.Message = why
			rollouts[text] = r
		}
	}
	if errors.Is(err, cloud.ErrForbidden) {
		return []plan.Notice{{Message: "why pods don't run can't be seen: " + err.Error()}}
	}
	return nil
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

// complaint is why a pod isn't ready.
type complaint struct {
	why     string
	created time.Time // the pod
}

// podTroubles say why pods of gateways aren't ready, by the gateway's path: the youngest
// pod that has something to say counts.
func (d *Driver) podTroubles(ctx context.Context, estate string, lost map[string]bool) (map[string]complaint, error) {
	all := map[string]complaint{}
	err := d.each(ctx, pods, "", ofEstate(estate), reading[unstructured.Unstructured]{
		take: func(u *unstructured.Unstructured) {
			var p corev1.Pod
			if runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &p) != nil {
				return
			}
			of := p.Namespace + "/" + p.Labels[state.LabelGateway]
			if why := trouble(&p, lost); why != "" && !p.CreationTimestamp.Time.Before(all[of].created) {
				all[of] = complaint{why, p.CreationTimestamp.Time}
			}
		},
		anew: func() { clear(all) },
	})
	if err != nil {
		return nil, err
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
