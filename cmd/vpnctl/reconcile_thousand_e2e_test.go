//go:build e2e

package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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
	s.ready(time.Hour, all)
	b.ReportMetric(time.Since(began).Seconds(), "s/start")
	s.settles()
	s.ended("start")
	worked(b, cmd.Process.Pid)

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
	looks := byVerb["list nodes"] // of which one page holds all
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
	worked(b, cmd.Process.Pid)

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
	s.gone(time.Hour, all)
	b.ReportMetric(time.Since(began).Seconds(), "s/removal")
	worked(b, cmd.Process.Pid)
	s.stop()
	s.empty()
}

// ready waits for one gateway after the other, and then looks at all of them: to list a
// thousand again and again would take from the API server what is being measured.
func (s *soak) ready(limit time.Duration, all []model) {
	s.t.Helper()
	began := time.Now()
	for _, m := range all {
		lab.Await(s.t, limit-time.Since(began), func(context.Context) string {
			u := s.lab.Get(s.t, m.apiVersion(), m.kind, s.namespace, m.name)
			if c := lab.ConditionOf(u, "Ready"); c.Status != "True" || c.ObservedGeneration != u.GetGeneration() {
				return fmt.Sprintf("%s, generation %d: %+v", m.name, u.GetGeneration(), c)
			}
			return ""
		})
	}
	s.converged(limit-time.Since(began), all...)
}

// gone waits likewise until none of them stands.
func (s *soak) gone(limit time.Duration, all []model) {
	s.t.Helper()
	began := time.Now()
	for _, m := range all {
		lab.Await(s.t, limit-time.Since(began), func(ctx context.Context) string {
			_, err := s.lab.Objects(s.t, m.apiVersion(), m.kind, s.namespace).Get(ctx, m.name, metav1.GetOptions{})
			if apierrors.IsNotFound(err) {
				return ""
			}
			return fmt.Sprintf("%s is still there: %v", m.name, err)
		})
	}
	s.converged(limit - time.Since(began))
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

// worked says how much of the processors' time was used so far: all else that it took is
// the control plane's, and other programs'.
func worked(b *testing.B, controller int) {
	b.Helper()
	var own syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &own); err != nil {
		b.Fatal(err)
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", controller))
	if err != nil {
		b.Fatal(err)
	}
	// after the name in brackets the 12th and 13th field, in hundredths of a second: proc(5)
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	b.Logf("processor time: the controller %.0f s, the cloud and this test %.0f s", float64(user+system)/100, time.Duration(own.Utime.Nano()+own.Stime.Nano()).Seconds())
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
