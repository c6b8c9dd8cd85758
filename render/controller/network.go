package controller

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// policy lets in who asks for metrics or the page, from any namespace, because nobody
// knows where Prometheus runs; and out what goes to DNS, to the API server on its usual
// ports, and to OpenStack, wherever that is.
func (i Install) policy() object {
	servers := append([]int32{443, 6443}, i.CloudPorts...)
	slices.Sort(servers)
	servers = slices.Compact(servers)
	return object{networkingv1.SchemeGroupVersion.String(), "NetworkPolicy", Name, networkingv1.NetworkPolicy{
		ObjectMeta: i.meta(Name),
		Spec: networkingv1.NetworkPolicySpec{
			PodSelector: metav1.LabelSelector{MatchLabels: labels()},
			Ingress: []networkingv1.NetworkPolicyIngressRule{{
				Ports: ports(corev1.ProtocolTCP, port),
				From:  []networkingv1.NetworkPolicyPeer{{NamespaceSelector: &metav1.LabelSelector{}}},
			}},
			Egress: []networkingv1.NetworkPolicyEgressRule{
				{Ports: append(ports(corev1.ProtocolUDP, 53), ports(corev1.ProtocolTCP, 53)...)},
				{Ports: ports(corev1.ProtocolTCP, servers...)},
			},
			PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress, networkingv1.PolicyTypeEgress},
		},
	}}
}

func ports(protocol corev1.Protocol, numbers ...int32) []networkingv1.NetworkPolicyPort {
	var all []networkingv1.NetworkPolicyPort
	for _, n := range numbers {
		number := intstr.FromInt32(n)
		all = append(all, networkingv1.NetworkPolicyPort{Protocol: &protocol, Port: &number})
	}
	return all
}

// budget lets one replica at a time be moved off its node, and the only one as well: what
// waits for it are changes, not packets.
func (i Install) budget() object {
	one := intstr.FromInt32(1)
	return object{policyv1.SchemeGroupVersion.String(), "PodDisruptionBudget", Name, policyv1.PodDisruptionBudget{
		ObjectMeta: i.meta(Name),
		Spec:       policyv1.PodDisruptionBudgetSpec{MaxUnavailable: &one, Selector: &metav1.LabelSelector{MatchLabels: labels()}},
	}}
}
