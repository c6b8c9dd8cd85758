//go:build race

package main

// slower is what the race detector costs.
const slower = 5
