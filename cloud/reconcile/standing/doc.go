// Package standing tells how gateways stand after a run: the conditions and the fields
// that the statuses of their manifests are to have. It asks nobody and writes nothing.
// Package controller writes what it says, and package board shows it.
package standing
