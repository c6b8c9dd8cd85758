package controller

import (
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var rbacVersion = rbacv1.SchemeGroupVersion.String()

// namespace takes only pods that need nothing of their node, as the controller's are.
func (i Install) namespace() object {
	marks := labels()
	marks["pod-security.kubernetes.io/enforce"] = "restricted"
	return object{"v1", "Namespace", i.Namespace, struct {
		Metadata metav1.ObjectMeta `json:"metadata"`
	}{metav1.ObjectMeta{Name: i.Namespace, Labels: marks}}}
}

// account gives its token to the pods that ask for it.
func (i Install) account() object {
	no := false
	return object{"v1", "ServiceAccount", Name, corev1.ServiceAccount{ObjectMeta: i.meta(Name), AutomountServiceAccountToken: &no}}
}

func (i Install) clusterRole() object {
	return object{rbacVersion, "ClusterRole", Name, rbacv1.ClusterRole{ObjectMeta: everywhere(), Rules: rules(Rights())}}
}

func (i Install) clusterBinding() object {
	return object{rbacVersion, "ClusterRoleBinding", Name, rbacv1.ClusterRoleBinding{
		ObjectMeta: everywhere(), Subjects: i.subjects(), RoleRef: reference("ClusterRole"),
	}}
}

func (i Install) role() object {
	return object{rbacVersion, "Role", Name, rbacv1.Role{ObjectMeta: i.meta(Name), Rules: rules(LeaseRights(i.Estate.Name))}}
}

func (i Install) binding() object {
	return object{rbacVersion, "RoleBinding", Name, rbacv1.RoleBinding{ObjectMeta: i.meta(Name), Subjects: i.subjects(), RoleRef: reference("Role")}}
}

// everywhere is the metadata of what stands in no namespace.
func everywhere() metav1.ObjectMeta { return metav1.ObjectMeta{Name: Name, Labels: labels()} }

func (i Install) subjects() []rbacv1.Subject {
	return []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: Name, Namespace: i.Namespace}}
}

func reference(kind string) rbacv1.RoleRef {
	return rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: kind, Name: Name}
}
