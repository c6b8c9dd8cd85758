// Package fakeapi is a small Kubernetes API for tests: Secrets and the status of
// custom resources over TLS, with service accounts whose Roles are enforced, and
// faults. Real pods can talk to it.
//
// It stands in for an API server only as far as the gateway's agent knows one. Each
// request is logged with the account that made it, so a test can show that nothing
// was asked for that the rendered Role doesn't grant.
package fakeapi
