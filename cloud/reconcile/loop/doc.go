// Package loop keeps an estate as the manifests in a cluster say: it runs package
// reconcile round after round, holds manifests until nothing is left of them, withholds
// deletions that are hardly meant, rests before what failed is tried again, and writes
// into statuses and events what became of it. The command reconcile runs its loop, and
// apply has it tell how gateways stand after a single run.
package loop
