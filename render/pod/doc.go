// Package pod says which Kubernetes objects make up a gateway pod and its
// surroundings: attachment, ConfigMaps, account and rights, network policy,
// Deployment, and where asked what the Prometheus operator reads.
//
// Defaults that an API server adds are written out, so that no differ sees them as
// a change. The pod template follows from the estate, the node and the port alone:
// no edit of a peer, an exposure or a grant restarts a pod. ConfigMaps are mounted
// whole, so that the running pod sees their changes.
package pod
