package pod

import (
	"slices"

	"github.com/vpnctl/vpnctl/plan/vpn"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
)

// account mounts no token by itself: only the status container gets one, projected.
func (s Spec) account() Object {
	no := false
	return Object{"v1", "ServiceAccount", s.name(), corev1.ServiceAccount{
		ObjectMeta: s.meta(s.name()), AutomountServiceAccountToken: &no,
	}}
}

// role allows the status agent to read and patch this gateway's and its peers'
// status, nothing else of them, and to read exactly the Secrets that they name.
func (s Spec) role() Object {
	rules := s.statusRules()
	if secrets := s.secrets(); len(secrets) > 0 {
		rules = append(rules, rule("", "secrets", secrets, "get"))
	}
	return Object{rbacv1.SchemeGroupVersion.String(), "Role", s.name(), rbacv1.Role{ObjectMeta: s.meta(s.name()), Rules: rules}}
}

// statusRules follow the kind of the manifests, which is all that differs.
func (s Spec) statusRules() []rbacv1.PolicyRule {
	own := []string{s.name()}
	if s.Gateway.Owner.Kind == vpn.KindIPsecGateway {
		return []rbacv1.PolicyRule{status("ipsec.bnerd.net", "ipsecgateways", own)}
	}
	rules := []rbacv1.PolicyRule{status("vpn.bnerd.net", "vpngateways", own)}
	if peers := s.peers(); len(peers) > 0 {
		rules = append(rules, status("vpn.bnerd.net", "vpnpeers", peers))
	}
	return rules
}

func status(group, plural string, names []string) rbacv1.PolicyRule {
	return rule(group, plural+"/status", names, "get", "patch")
}

func rule(group, plural string, names []string, verbs ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: []string{group}, Resources: []string{plural}, ResourceNames: names, Verbs: verbs}
}

func (s Spec) peers() []string {
	var names []string
	for _, p := range s.Gateway.Peers {
		names = append(names, p.Name)
	}
	return names
}

// secrets are the names of the Secrets that the manifests name, sorted.
func (s Spec) secrets() []string {
	var names []string
	add := func(r vpn.SecretRef) {
		if r.Name != "" {
			names = append(names, r.Name)
		}
	}
	if w := s.Gateway.WireGuard; w != nil {
		add(w.PrivateKey)
	}
	for _, p := range s.Gateway.Peers {
		add(p.PSK)
		add(p.PresharedKey)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func (s Spec) binding() Object {
	return Object{rbacv1.SchemeGroupVersion.String(), "RoleBinding", s.name(), rbacv1.RoleBinding{
		ObjectMeta: s.meta(s.name()),
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: s.name(), Namespace: s.Gateway.Owner.Namespace}},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: s.name()},
	}}
}
