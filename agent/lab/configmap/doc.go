// Package configmap plays the kubelet's part in a mounted ConfigMap, for tests.
package configmap
