//go:build !race

package openstack

const stride = 1
