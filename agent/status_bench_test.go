package agent

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/vpnctl/vpnctl/agent/vici/fakecharon"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// BenchmarkStatus is a gateway of many IPsec peers with two tunnels each, against a fake
// charon in the same process: from nothing to all loaded, then at rest. A tick's figure
// must grow with the number of peers and no faster, and stay below a second for 2,000.
func BenchmarkStatus(b *testing.B) {
	for _, peers := range []int{500, 1000, 2000} {
		load := func(b *testing.B) *rig {
			b.Helper()
			r := newRig(b)
			r.loop.Push = time.Hour // all in one tick, to measure it
			r.many(peers)
			r.tick()
			return r
		}
		b.Run(fmt.Sprintf("load/%d", peers), func(b *testing.B) {
			for range b.N {
				b.StopTimer()
				r := load(b)
				b.StartTimer()
				before := spent(b)
				r.loop.tick(b.Context())
				b.StopTimer()
				b.ReportMetric((spent(b)-before).Seconds()*1000, "cpu-ms/op")
				if n := len(r.charon.Connections()); n != peers {
					b.Fatalf("%d connections are loaded", n)
				}
			}
		})
		b.Run(fmt.Sprintf("rest/%d", peers), func(b *testing.B) {
			r := load(b)
			r.ticks(peers/r.loop.Watchdog.Batch*3 + 10)
			if n := len(r.charon.SAs()); n != peers {
				b.Fatalf("%d SAs", n)
			}
			b.Run("tick", func(b *testing.B) {
				before := spent(b)
				for range b.N {
					r.loop.tick(b.Context())
				}
				measured(b, before)
			})
			b.Run("scrape", func(b *testing.B) {
				handler := r.loop.Handler()
				before := spent(b)
				defer func() { measured(b, before) }()
				b.ResetTimer()
				for range b.N {
					w := httptest.NewRecorder()
					handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
					n, _ := io.Copy(io.Discard, w.Result().Body)
					b.ReportMetric(float64(n), "bytes/scrape")
				}
			})
			b.Run("change", func(b *testing.B) {
				for i := range b.N {
					b.StopTimer()
					r.edit("p0042", mutations[i%2+6].edit)
					before := r.charon.Calls("load-conn")
					b.StartTimer()
					r.loop.tick(b.Context())
					if n := r.charon.Calls("load-conn") - before; n != 1 {
						b.Fatalf("%d connections are loaded for the change of one", n)
					}
				}
			})
			b.Run("memory", func(b *testing.B) {
				r.charon.Change(func([]fakecharon.SA) []fakecharon.SA { return nil })
				for range b.N {
					r.loop.tick(b.Context())
				}
				runtime.GC()
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				b.ReportMetric(float64(m.Sys)/(1<<20), "MiB-at-most")
				b.ReportMetric(float64(m.HeapAlloc)/(1<<20), "MiB-live") // the fake charon's part included
			})
		})
	}
}

// spent is the processor time of this process so far, which on a busy machine says more
// than the clock. Half of a tick's is the fake charon's.
func spent(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// measured reports what n operations have spent since a moment.
func measured(b *testing.B, since time.Duration) {
	b.Helper()
	b.ReportMetric((spent(b)-since).Seconds()*1000/float64(b.N), "cpu-ms/op")
}

// many adds peers at one go.
func (r *rig) many(n int) {
	for i := range n {
		name := fmt.Sprintf("p%04d", i)
		conn := connection(name, i)
		r.config.Connections = append(r.config.Connections, conn)
		r.expect.Peers = append(r.expect.Peers, vpn.ExpectedPeer{
			Name: name, ID: conn.RemoteID, PresharedKey: vpn.SecretRef{Name: name, Key: "psk"},
			Children: []string{conn.Children[0].Name, conn.Children[1].Name},
		})
		r.secret(name, secretOf(name))
	}
	r.swap()
}
