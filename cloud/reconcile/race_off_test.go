//go:build !race

package reconcile_test

const stride = 1
