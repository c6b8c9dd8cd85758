// Package fakeapi is a small Kubernetes API server for tests: over HTTP, in the
// process, with the semantics that a client can run into. Where it differs from a real
// one it is wrong: the properties that cloud/kube is tested for run on both.
//
// What it does as a real one: server-side apply with managedFields, by the same code and
// the types' real schemas; merge and update with resourceVersion and uid; finalizers,
// foreground deletion and the removal of dependents; lists by label with pages that
// expire; watches, bookmarks and "too old"; the status subresource; defaults of a
// Deployment and of vpnctl's own kinds.
//
// What it doesn't: no controller sets a status, nothing is validated but names,
// namespaces and what can't be changed, everybody may do everything until Deny says no.
package fakeapi
