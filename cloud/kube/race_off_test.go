//go:build !race

package kube_test

// stride is how many calls apart the last calls of runs are.
const stride = 1
