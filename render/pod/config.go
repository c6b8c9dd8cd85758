package pod

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// meta is the metadata of an object of the gateway.
func (s Spec) meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, Namespace: s.Gateway.Owner.Namespace, Labels: s.Labels, Annotations: s.Notes}
}

func (s Spec) config() Object { return s.configMap(ConfigName(s.Gateway), s.Config) }

func (s Spec) rules() Object {
	return s.configMap(RulesName(s.Gateway), map[string]string{KeyRules: s.Rules})
}

func (s Spec) configMap(name string, data map[string]string) Object {
	return Object{"v1", "ConfigMap", name, corev1.ConfigMap{ObjectMeta: s.meta(name), Data: data}}
}
