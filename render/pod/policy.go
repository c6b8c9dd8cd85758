package pod

import (
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// policy governs the pod's first interface alone; tunnel traffic uses the second,
// which no NetworkPolicy reaches. In: metrics, from any namespace, because nobody
// knows where Prometheus runs. Out: DNS, and the API server on its usual ports.
func (s Spec) policy() Object {
	name := PolicyName(s.Gateway)
	return Object{networkingv1.SchemeGroupVersion.String(), "NetworkPolicy", name, networkingv1.NetworkPolicy{
		ObjectMeta: s.meta(name),
		Spec: networkingv1.NetworkPolicySpec{
			PodSelector: metav1.LabelSelector{MatchLabels: s.selector()},
			Ingress: []networkingv1.NetworkPolicyIngressRule{{
				Ports: ports(corev1.ProtocolTCP, MetricsPort),
				From:  []networkingv1.NetworkPolicyPeer{{NamespaceSelector: &metav1.LabelSelector{}}},
			}},
			Egress: []networkingv1.NetworkPolicyEgressRule{
				{Ports: append(ports(corev1.ProtocolUDP, 53), ports(corev1.ProtocolTCP, 53)...)},
				{Ports: ports(corev1.ProtocolTCP, 443, 6443)},
			},
			PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress, networkingv1.PolicyTypeEgress},
		},
	}}
}

func ports(protocol corev1.Protocol, numbers ...int) []networkingv1.NetworkPolicyPort {
	var all []networkingv1.NetworkPolicyPort
	for _, n := range numbers {
		port := intstr.FromInt32(int32(n))
		all = append(all, networkingv1.NetworkPolicyPort{Protocol: &protocol, Port: &port})
	}
	return all
}
