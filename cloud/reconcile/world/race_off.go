//go:build !race

package world

// Stride is which of many like cases a test takes: the race detector makes all slow.
const Stride = 1
