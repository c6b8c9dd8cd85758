// Package kube keeps the Kubernetes side of an estate in a cluster: the manifests as
// custom resources, and the objects that make up each gateway's pod.
//
// It records how they stand, makes the private keys that no manifest names, tells
// of changes and elects the one process that acts.
//
// An object is ours when it carries the labels of the estate. Observing costs one list
// a kind, by label; manifests are listed whole, because the estate's people may have
// applied them by hand. Of Secrets the metadata alone are listed. Writes are server-side applies as field manager "vpnctl".
package kube
