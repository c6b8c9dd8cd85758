//go:build e2e

package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/vpnctl/vpnctl/cloud/kube/lab"
)

// BenchmarkKubeThousand is a controller over $VPNCTL_SOAK_THOUSAND gateways (1,000 without it)
// on a real control plane, with a cloud in this process.
//
//	s/start          from the start of the process to all made and ready
//	apicalls/min     to the API server at rest, by its audit log
//	calls/resync     to the cloud, of a look without a reason
//	s/edit           from an edited manifest to its gateway being ready again
//	s/removal        from all of them being deleted to nothing being left
//	MiB              resident of the controller, at rest; at most: MiB-peak
func BenchmarkKubeThousand(b *testing.B) {
	n := setting("VPNCTL_SOAK_THOUSAND", 1000)
	s := newSoak(b, asItIs)
	all := make([]model, n)
	for i := range all {
		all[i] = s.gateway(i, 0)
		s.put(all[i])
	}
	s.ended("writing manifests")
	b.ResetTimer()
	began := time.Now()
	cmd := s.start("--resync", "1m", "--max-deletes", "5000")
	s.converged(time.Hour, all...)
	b.ReportMetric(time.Since(began).Seconds(), "s/start")
	s.settles()
	s.ended("start")

	mark, rest := s.lab.Mark(b), time.Now()
	time.Sleep(2 * time.Minute)
	requests, byVerb := 0, map[string]int{}
	for _, r := range s.lab.Requests(b, mark) {
		if strings.HasPrefix(r.Agent, "vpnctl/") {
			requests++
			byVerb[r.Verb+" "+r.Resource]++
		}
	}
	calls := s.since(rest)
	minutes := time.Since(rest).Minutes()
	b.ReportMetric(float64(requests)/minutes, "apicalls/min")
	looks := byVerb["list configmaps"]
	for _, c := range calls {
		if c.writes() {
			b.Errorf("at rest: %s %s", c.method, c.path)
		}
	}
	b.Logf("at rest: %d calls to the cloud in %d looks; to the API server %v", len(calls), looks, byVerb)
	if looks > 0 {
		b.ReportMetric(float64(len(calls))/float64(looks), "calls/resync")
	}
	s.ended("rest")

	began = time.Now()
	all[n/2] = s.gateway(n/2, 1)
	s.put(all[n/2])
	lab.Await(b, 10*time.Minute, func(context.Context) string {
		u := s.lab.Get(b, all[n/2].apiVersion(), all[n/2].kind, s.namespace, all[n/2].name)
		if ready := lab.ConditionOf(u, "Ready"); ready.Status != "True" || ready.ObservedGeneration != u.GetGeneration() {
			return fmt.Sprintf("%+v", ready)
		}
		return ""
	})
	b.ReportMetric(time.Since(began).Seconds(), "s/edit")
	b.ReportMetric(resident(b, cmd.Process.Pid, "VmRSS:"), "MiB")
	b.ReportMetric(resident(b, cmd.Process.Pid, "VmHWM:"), "MiB-peak")
	s.ended("edit")
	began = time.Now()
	for _, m := range all {
		s.drop(m)
	}
	s.converged(time.Hour)
	b.ReportMetric(time.Since(began).Seconds(), "s/removal")
	s.stop()
	s.empty()
}

// settles waits until no call to the cloud has changed anything for half a minute.
func (s *soak) settles() {
	s.t.Helper()
	lab.Await(s.t, 10*time.Minute, func(context.Context) string {
		for _, c := range s.since(time.Now().Add(-30 * time.Second)) {
			if c.writes() {
				return "something is still written"
			}
		}
		return ""
	})
}

// resident reads a figure of a process' memory, in MiB.
func resident(t testing.TB, pid int, what string) float64 {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if rest, is := strings.CutPrefix(line, what); is {
			kilobytes, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(rest), " kB"))
			if err != nil {
				t.Fatal(err)
			}
			return float64(kilobytes) / 1024
		}
	}
	t.Fatalf("no %s in %s", what, text)
	return 0
}
