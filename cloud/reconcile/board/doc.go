// Package board is what a controller shows of itself to people, to Prometheus and to
// probes: the status page, metrics and health. It holds what package loop tells it,
// and asks nobody.
package board
