// Package cloud looks and acts: it observes what exists through drivers and
// carries a plan out.
//
// A Driver speaks to one system (OpenStack, a Kubernetes cluster, a directory).
// Drivers guard a change (read just before, wait until done, complete a cut-off
// create); what to change they never decide.
package cloud
