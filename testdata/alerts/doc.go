// Package alerts tests the rendered alerts with Prometheus' own engine: what fires, when,
// with which labels, and what must not. It is a module of its own, so that vpnctl
// doesn't depend on Prometheus: run `go test -count=1 ./...` in this folder (Go's test
// cache doesn't notice that a file outside the module has changed).
package alerts
