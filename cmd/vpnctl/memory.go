package main

import (
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// ampleMemory is what a run may use, in bytes, before it looks for garbage. A plan of
// 1,000 gateways takes nearly as much anyway, and may take 300 MiB.
const ampleMemory = 224 << 20

// collectLate lets garbage lie until that much memory is used: most runs end before,
// and collect none. It is for commands that read, do one thing and end. What GOGC and
// GOMEMLIMIT say stays.
//
//	live after a collection   next collection
//	less than half of that    when that much is used
//	more                      when as much again is used as is live, as always
func collectLate() {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(ampleMemory)
	atCollection(func() {
		debug.SetGCPercent(100)
		debug.SetMemoryLimit(math.MaxInt64)
	})
}

// collectOften keeps the garbage of a program that runs for ever below half of what it
// holds: each look at an estate leaves as much as it needs. What GOGC says stays.
func collectOften() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(50)
	}
}

// atCollection calls a function after the first collection that leaves much alive.
func atCollection(much func()) {
	runtime.AddCleanup(new(garbage), func(much func()) {
		if live() < ampleMemory/2 {
			atCollection(much)
		} else {
			much()
		}
	}, much)
}

// garbage is what a collection finds. It holds a pointer: the runtime puts small
// objects without one into a block with others, which may live on.
type garbage struct{ _ *garbage }

// live is what the last collection left, in bytes.
func live() uint64 {
	read := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(read)
	return read[0].Value.Uint64()
}
