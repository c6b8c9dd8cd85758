package loop_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/vpnctl/vpnctl/cloud/reconcile/loop"
	"github.com/vpnctl/vpnctl/cloud/reconcile/world"
	"github.com/vpnctl/vpnctl/cloud/simulator"
)

// BenchmarkReconcile is a controller over an estate of so many gateways, with a cloud
// and a cluster in the same process.
//
//	s/start           from the first look to all made and ready
//	s/resync          a round with nothing to do
//	calls/resync      to the cloud
//	cluster/resync    to the cluster, of which each list counts once
//	s/edit            from an edited manifest to its gateway being ready again
//	MiB               what is in use after it, the simulated cloud and cluster included
func BenchmarkReconcile(b *testing.B) {
	for _, n := range []int{100, 1000} {
		b.Run(fmt.Sprintf("gateways=%d", n), func(b *testing.B) {
			for b.Loop() {
				measure(b, n)
			}
		})
	}
}

func measure(b *testing.B, n int) {
	f := newField(b, simulator.Options{
		RouteLimit: 1 << 20, Keep: simulator.All,
		Quota: map[string]int{"port": -1, "security_group": -1, "security_group_rule": -1, "floatingip": -1},
		Seed:  simulator.Seed{SubnetCIDR: "10.128.0.0/16", FloatingIPCIDR: "11.0.0.0/16", Nodes: world.Nodes(b)},
	})
	f.estateFile(strings.NewReplacer("100.64.0.0/16", "100.64.0.0/10").Replace(clusterEstate) + "  gatewayPod: {maxGatewaysPerNode: 1000}\n")
	all := fleet(b, n)
	for _, m := range all {
		f.write(m...)
	}
	c := f.controller()
	c.Parallelism = 8
	began := time.Now()
	untilQuiet(b, c)
	b.ReportMetric(time.Since(began).Seconds(), "s/start")
	for _, m := range all {
		if got := f.ready("VPNGateway acme/" + m[0].Name); got != "True Ready" {
			b.Fatalf("%s: %s", m[0].Name, got)
		}
	}
	f.Sim.Reset()
	called := f.called()
	began = time.Now()
	c.Round(b.Context())
	b.ReportMetric(time.Since(began).Seconds(), "s/resync")
	tally := simulator.Count(f.Sim.Calls())
	b.ReportMetric(float64(tally.Reads), "calls/resync")
	b.ReportMetric(float64(f.called()-called), "cluster/resync")
	if tally.Writes > 0 || n <= 1000 && tally.Reads > 15 {
		b.Errorf("a round with nothing to do: %v", tally.By)
	}
	f.write(edited(b, all[n/2][0], `"name":"web"`, `"name":"web2"`))
	began = time.Now()
	untilQuiet(b, c)
	b.ReportMetric(time.Since(began).Seconds(), "s/edit")
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	b.ReportMetric(float64(m.HeapInuse)/(1<<20), "MiB")
}

// untilQuiet runs rounds without a pause until one had nothing to do.
func untilQuiet(b *testing.B, c *loop.Controller) {
	for {
		said, called := c.Herald.(*cluster).statuses(), c.Cluster.(*cluster).made()
		next := c.Round(b.Context())
		if said == c.Herald.(*cluster).statuses() && called == c.Cluster.(*cluster).made() && time.Until(next) > time.Minute {
			return
		}
	}
}
