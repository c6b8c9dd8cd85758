// Package world is what tests of runs and of the controller happen in: a simulated
// cloud, a directory for the Kubernetes side, a clock, and the estate of all examples.
// Nothing that is shipped uses it.
package world
