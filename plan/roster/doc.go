// Package roster is how gateways in a cluster stand, by what their statuses say: which
// are ready, whose tunnels are up, and whether what somebody waits for has come.
//
// It judges values that were read: cloud/kube reads them, plan/view prints them, and the
// commands status and wait ask. A status is what somebody wrote at some time. Where that
// may no longer hold, the answer is unknown, which is not down.
package roster
