// Package conformance says how Keystone, Neutron and Nova behave where a client
// like vpnctl relies on it, one subtest a behaviour.
//
// It speaks plain HTTP, so that no client library stands between a behaviour
// and its test. It runs against the simulator in every test run, and against
// real services with the build tag e2e. The real services decide: where the
// simulator differs, the simulator is wrong; where a real release differs from
// the text here, the text is.
//
// Every subtest removes what it made, and none looks at what others have.
package conformance
