package main

import (
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"time"
)

// collecting is when the garbage collector runs.
type collecting struct {
	percent uint64
	limit   int64
}

var (
	usual = collecting{100, math.MaxInt64}
	late  = collecting{math.MaxUint64, ampleMemory} // no heap grows by that percentage
)

func expectCollecting(t *testing.T, when string, want collecting) {
	t.Helper()
	read := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	var got collecting
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) {
		metrics.Read(read)
		if got = (collecting{read[0].Value.Uint64(), debug.SetMemoryLimit(-1)}); got == want {
			return
		}
	}
	t.Errorf("%s: %+v, want %+v", when, got, want)
}

// TestGarbageIsCollectedLate runs collections as the runtime would.
func TestGarbageIsCollectedLate(t *testing.T) {
	t.Setenv("GOGC", "")
	t.Setenv("GOMEMLIMIT", "")
	collectLate()
	expectCollecting(t, "at first", late)
	for range 3 {
		runtime.GC()
		time.Sleep(10 * time.Millisecond) // for what must not happen
	}
	expectCollecting(t, "while little is in use", late)
	much := make([]byte, ampleMemory/2)
	for range 3 { // the first may only find what the one before it left
		runtime.GC()
		time.Sleep(10 * time.Millisecond)
	}
	expectCollecting(t, "once much is in use", usual)
	runtime.KeepAlive(much)
}

func TestGarbageIsCollectedAsAskedFor(t *testing.T) {
	for _, name := range []string{"GOGC", "GOMEMLIMIT"} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("GOGC", "")
			t.Setenv("GOMEMLIMIT", "")
			t.Setenv(name, "200")
			debug.SetGCPercent(100) // whatever the tests were started with
			debug.SetMemoryLimit(math.MaxInt64)
			collectLate()
			expectCollecting(t, "after all", usual)
		})
	}
}
