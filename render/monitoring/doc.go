// Package monitoring has the parts of the Prometheus operator's types
// (monitoring.coreos.com/v1) that vpnctl renders: monitors of pods, and rules.
package monitoring
