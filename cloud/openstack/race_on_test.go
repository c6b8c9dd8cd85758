//go:build race

package openstack

// stride: the race detector makes a point ten times slower, so it sees every tenth.
const stride = 10
