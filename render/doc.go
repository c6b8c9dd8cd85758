// Package render says what a gateway consists of: it turns a gateway, its ledger
// and the facts of the outside world into the desired graph of OpenStack resources
// and Kubernetes objects.
//
// Everything here is a function from values to values. What only the outside knows
// (a floating IP, a port's MAC address) stands as resource.Unknown until it is a
// fact; then the same function renders the same gateway again. The text files come
// from swanctl, wgconf and nat, the objects from pod, and an estate's kustomize
// patches are put over them by overlay.
package render
