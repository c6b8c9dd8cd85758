package loop_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
)

// TestADryRunLogsItsPlan: a line for each change, once for as long as they stay the same.
func TestADryRunLogsItsPlan(t *testing.T) {
	bubble(t, func(t *testing.T, f *field) {
		f.write(manifestsOf(t, "acme/dc1")...)
		var log bytes.Buffer
		c := f.controller()
		c.DryRun, c.Log = true, slog.New(slog.NewTextHandler(&log, nil))
		c.Round(t.Context())
		first := strings.Count(log.String(), "would change")
		if first < 10 || !strings.Contains(log.String(), "change=openstack.port/acme/dc1 action=create") {
			t.Errorf("%d changes logged:\n%s", first, log.String())
		}
		c.Round(t.Context())
		if n := strings.Count(log.String(), "would change"); n != first {
			t.Errorf("%d changes were logged by a second look that found the same", n-first)
		}
		f.remove(manifestsOf(t, "acme/dc1")...)
		c.Round(t.Context())
		if n := strings.Count(log.String(), "nothing would change"); n != 1 {
			t.Errorf("that nothing would change was logged %d times", n)
		}
		f.write(manifestsOf(t, "acme/dc1")...)
		f.running(c, func() {
			if text := get(t, c, "/metrics"); strings.Contains(text, "\nvpnctl_reconcile_leader 1\n") {
				t.Error("a dry run says that it leads")
			}
		})
	})
}
