// Package alerts tests the rendered alerts with Prometheus' own engine: what fires, when,
// with which labels, and what must not. It is a module of its own, so that vpnctl
// doesn't depend on Prometheus: run `go test ./...` in this folder.
package alerts
