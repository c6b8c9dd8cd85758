// Package v1alpha1 holds the wire type of the group vpnctl.bnerd.net: the
// Estate, which configures one installation. It lives in a file, vpnctl.yaml,
// and never in a cluster, so it has no CRD.
//
// +kubebuilder:object:generate=true
// +groupName=vpnctl.bnerd.net
package v1alpha1
