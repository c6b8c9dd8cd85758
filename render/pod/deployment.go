package pod

import (
	"encoding/json"
	"fmt"
	"maps"

	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/render/nat"
	"github.com/vpnctl/vpnctl/state"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Labels and annotations of the pod.
const (
	labelName            = "app.kubernetes.io/name"
	annotationNetworks   = "k8s.v1.cni.cncf.io/networks"
	annotationAttachment = state.Prefix + "attachment"
)

// selector can't change once the Deployment exists, so it holds what identifies the
// gateway and no more.
func (s Spec) selector() map[string]string {
	return map[string]string{labelName: "vpnctl-gateway", state.LabelGateway: s.name()}
}

// deployment is one pod, recreated rather than rolled: its port can be in one place
// only, and two pods would fight over it.
func (s Spec) deployment(a attachment) (Object, error) {
	spec, err := s.podSpec()
	if err != nil {
		return Object{}, err
	}
	one, history, deadline := int32(1), int32(3), int32(600)
	labels := s.selector()
	maps.Copy(labels, s.Labels)
	return Object{appsv1.SchemeGroupVersion.String(), "Deployment", s.name(), appsv1.Deployment{
		ObjectMeta: s.meta(s.name()),
		Spec: appsv1.DeploymentSpec{
			Replicas: &one,
			Selector: &metav1.LabelSelector{MatchLabels: s.selector()},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{
					Labels:      labels,
					Annotations: map[string]string{annotationNetworks: s.network(), annotationAttachment: a.digest()},
				},
				Spec: spec,
			},
			Strategy:                appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType},
			RevisionHistoryLimit:    &history,
			ProgressDeadlineSeconds: &deadline,
		},
	}}, nil
}

// network asks for the attachment, under the name that the ruleset knows the port by.
func (s Spec) network() string { return s.name() + "@" + nat.PortInterface }

func (s Spec) podSpec() (corev1.PodSpec, error) {
	resources, tolerations, err := s.estatePod()
	if err != nil {
		return corev1.PodSpec{}, err
	}
	no, grace := false, int64(30)
	return corev1.PodSpec{
		Volumes:                       s.volumes(),
		Containers:                    s.containers(resources),
		RestartPolicy:                 corev1.RestartPolicyAlways,
		TerminationGracePeriodSeconds: &grace,
		DNSPolicy:                     corev1.DNSClusterFirst,
		ServiceAccountName:            s.name(),
		DeprecatedServiceAccount:      s.name(),
		AutomountServiceAccountToken:  &no,
		NodeName:                      s.Node,
		SecurityContext: &corev1.PodSecurityContext{
			SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		},
		SchedulerName:      corev1.DefaultSchedulerName,
		Tolerations:        append(lost(), tolerations...),
		PriorityClassName:  s.Estate.Pod.PriorityClassName,
		EnableServiceLinks: &no,
	}, nil
}

// lost shortens the five minutes that a pod stays bound to a lost node: the gateway
// must move to another one before it works again.
func lost() []corev1.Toleration {
	seconds := int64(30)
	var all []corev1.Toleration
	for _, key := range []string{corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable} {
		all = append(all, corev1.Toleration{
			Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: &seconds,
		})
	}
	return all
}

// estatePod reads the parts of the pod that the estate gives as Kubernetes types.
func (s Spec) estatePod() (corev1.ResourceRequirements, []corev1.Toleration, error) {
	resources, tolerations := defaultResources(), []corev1.Toleration(nil)
	if raw := s.Estate.Pod.Resources; len(raw) > 0 {
		given := corev1.ResourceRequirements{}
		if err := json.Unmarshal(raw, &given); err != nil {
			return resources, nil, fmt.Errorf("gatewayPod.resources: %w", err)
		}
		if given.Requests != nil || given.Limits != nil || given.Claims != nil {
			resources = given
		}
	}
	if raw := s.Estate.Pod.Tolerations; len(raw) > 0 {
		if err := json.Unmarshal(raw, &tolerations); err != nil {
			return resources, nil, fmt.Errorf("gatewayPod.tolerations: %w", err)
		}
	}
	return resources, tolerations, nil
}

func (s Spec) image() string {
	if s.Estate.Pod.Image != "" {
		return s.Estate.Pod.Image
	}
	return Image
}

func (s Spec) ipsec() bool { return s.Gateway.Protocol == vpn.IPsec }
