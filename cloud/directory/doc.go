// Package directory keeps the Kubernetes side of an estate as files in a directory,
// usually a GitOps checkout that Flux or Argo CD syncs.
//
// A file is ours when its first line is the estate's marker and it lies where that
// owner's files lie. Everything else is left alone, and refused by name where it
// stands in the way. Writes are atomic; nothing is written or deleted through a
// symbolic link.
package directory
