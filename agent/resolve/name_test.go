package resolve

import (
	"context"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const erp = "erp.example.org."

func write(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "resolv.conf")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// both adds the second server of loopback to a resolv.conf.
func both(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return write(t, string(text)+"nameserver 127.0.0.2\n")
}

// TestNameOverTime is one name's life: what the server says at each look, and what
// is in use after it.
func TestNameOverTime(t *testing.T) {
	one := erp + " 60 IN A 10.20.0.1\n"
	two := erp + " 60 IN A 10.20.0.2\n"
	three := erp + " 60 IN A 10.20.0.3\n"
	s := serve(t, map[string]string{})
	r := s.resolver(t)
	n := &Name{Host: "erp.example.org"}
	now := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	for _, step := range []struct {
		sentence, records string
		changed           bool
		address, problem  string
		least, most       time.Duration // until the next look
	}{
		{"nothing at first", "servfail", false, "invalid IP", "SERVFAIL", 500 * time.Millisecond, time.Second},
		{"still nothing", "servfail", false, "invalid IP", "SERVFAIL", time.Second, 2 * time.Second},
		{"an address", one, true, "10.20.0.1", "", time.Minute, time.Minute},
		{"the same", one, false, "10.20.0.1", "", time.Minute, time.Minute},
		{"another one before it", two + one, false, "10.20.0.1", "", time.Minute, time.Minute},
		{"and behind it", one + three, false, "10.20.0.1", "", time.Minute, time.Minute},
		{"others alone", two + three, true, "10.20.0.2", "", time.Minute, time.Minute},
		{"the old one is back, too", one + two, false, "10.20.0.2", "", time.Minute, time.Minute},
		{"a server that fails", "servfail", false, "10.20.0.2", "SERVFAIL", 500 * time.Millisecond, time.Second},
		{"a server that is silent", "silent", false, "10.20.0.2", "no name server answers", time.Second, 2 * time.Second},
		{"a name that is gone", "gone", false, "10.20.0.2", "no such name", 2 * time.Second, 4 * time.Second},
		{"a name without an address", "", false, "10.20.0.2", "no IPv4 address", 4 * time.Second, 8 * time.Second},
		{"useless addresses", erp + " 60 IN A 127.0.0.1", false, "10.20.0.2", "127.0.0.1", 8 * time.Second, 16 * time.Second},
		{"longer and longer", "servfail", false, "10.20.0.2", "SERVFAIL", 15 * time.Second, 30 * time.Second},
		{"but not for ever", "servfail", false, "10.20.0.2", "SERVFAIL", 15 * time.Second, 30 * time.Second},
		{"an answer of nonsense", "garbage", false, "10.20.0.2", "the answer can't be read: of 127.0.0.1:", 15 * time.Second, 30 * time.Second},
		{"all is well again", two, false, "10.20.0.2", "", time.Minute, time.Minute},
		{"a failure starts from the beginning", "servfail", false, "10.20.0.2", "SERVFAIL", 500 * time.Millisecond, time.Second},
		{"an answer that holds for no time", strings.Replace(two, "60", "0", 1), false, "10.20.0.2", "", 5 * time.Second, 5 * time.Second},
		{"an answer that holds for a day", strings.Replace(one, "60", "86400", 1), true, "10.20.0.1", "", 5 * time.Minute, 5 * time.Minute},
	} {
		if step.records == "gone" {
			s.mu.Lock()
			delete(s.zone, erp)
			s.mu.Unlock()
		} else {
			s.set(erp, step.records)
		}
		if !n.Due(now) {
			t.Fatalf("%s: not due", step.sentence)
		}
		if changed := n.Refresh(t.Context(), r, now, nil); changed != step.changed {
			t.Errorf("%s: changed %t", step.sentence, changed)
		}
		if n.Address.String() != step.address {
			t.Errorf("%s: %s is in use, want %s", step.sentence, n.Address, step.address)
		}
		if (n.Problem == "") != (step.problem == "") || !strings.Contains(n.Problem, step.problem) {
			t.Errorf("%s: problem %q, want %q", step.sentence, n.Problem, step.problem)
		}
		if wait := n.Next.Sub(now); wait < step.least || wait > step.most || !n.Checked.Equal(now) {
			t.Errorf("%s: the next look is %v later, want %v to %v; checked %v", step.sentence, wait, step.least, step.most, n.Checked)
		}
		if n.Due(n.Next.Add(-time.Nanosecond)) {
			t.Errorf("%s: due before its time", step.sentence)
		}
		now = n.Next
	}
}

func TestRememberedAddressStays(t *testing.T) {
	s := serve(t, map[string]string{erp: erp + " 60 IN A 10.20.0.1\n" + erp + " 60 IN A 10.20.0.2\n"})
	n := &Name{Host: "erp.example.org", Address: netip.MustParseAddr("10.20.0.2")}
	if n.Refresh(t.Context(), s.resolver(t), time.Now(), nil) || n.Address.String() != "10.20.0.2" {
		t.Errorf("%s took the place of an address that the name still has", n.Address)
	}
}

// A name server that can't say what the name is in one domain must not move it to
// another; but one that never can doesn't keep the name where it is.
func TestSearchListDoesNotMoveANameByAccident(t *testing.T) {
	const near, far = "db.near.example.", "db.far.example."
	s := serve(t, map[string]string{near: near + " 60 IN A 10.0.0.1", far: far + " 60 IN A 10.0.0.2"})
	r := s.resolver(t, "search near.example far.example")
	n := &Name{Host: "db"}
	for _, step := range []struct{ sentence, near, far, address, problem string }{
		{"the nearest", near + " 60 IN A 10.0.0.1", far + " 60 IN A 10.0.0.2", "10.0.0.1", ""},
		{"the nearest can't be looked up", "servfail", far + " 60 IN A 10.0.0.2", "10.0.0.1", "SERVFAIL for " + near},
		{"the farther one has its address, too", "servfail", far + " 60 IN A 10.0.0.2\n" + far + " 60 IN A 10.0.0.1", "10.0.0.1", ""},
		{"the nearest has no address any more", "", far + " 60 IN A 10.0.0.2", "10.0.0.2", ""},
		{"the farther one moves, the nearest fails", "servfail", far + " 60 IN A 10.0.0.3", "10.0.0.3", ""},
		{"the nearest is back", near + " 60 IN A 10.0.0.1", far + " 60 IN A 10.0.0.3", "10.0.0.1", ""},
	} {
		s.set(near, step.near)
		s.set(far, step.far)
		n.Refresh(t.Context(), r, time.Now(), nil)
		if n.Address.String() != step.address || (n.Problem == "") != (step.problem == "") || !strings.Contains(n.Problem, step.problem) {
			t.Errorf("%s: %s, problem %q; want %s, %q", step.sentence, n.Address, n.Problem, step.address, step.problem)
		}
	}
}

func TestCancelledLookCountsForNothing(t *testing.T) {
	s := serve(t, map[string]string{erp: "silent"})
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, cancel)
	n := &Name{Host: "erp.example.org"}
	if n.Refresh(ctx, s.resolver(t), time.Now(), nil) || n.Problem != "" || !n.Checked.IsZero() {
		t.Errorf("%+v", *n)
	}
	late, stop := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer stop()
	if n.Refresh(late, s.resolver(t), time.Now(), nil); n.Problem == "" {
		t.Error("a look that took too long is no problem")
	}
}

func TestWaitsAreSpread(t *testing.T) {
	seen := map[time.Duration]bool{}
	for range 100 {
		d := wait(100)
		if d < lastWait/2 || d >= lastWait {
			t.Fatalf("a wait of %v", d)
		}
		seen[d] = true
	}
	if len(seen) < 50 {
		t.Errorf("only %d different waits of 100", len(seen))
	}
}

// Of a name's addresses those are left out that must not be used, and the name says so.
func TestForbiddenAddresses(t *testing.T) {
	one, two := erp+" 60 IN A 10.20.0.1\n", erp+" 60 IN A 100.64.1.200\n"
	s := serve(t, map[string]string{})
	n := &Name{Host: "erp.example.org", Address: netip.MustParseAddr("100.64.1.7")}
	forbid := func(a netip.Addr) string {
		if a.As4()[0] == 100 {
			return "it is another's"
		}
		return ""
	}
	for _, step := range []struct{ sentence, records, address, problem string }{
		{"what was remembered", "servfail", "invalid IP", "SERVFAIL"},
		{"another's alone", two, "invalid IP", "its address 100.64.1.200 is not used: it is another's"},
		{"another's first", two + one, "10.20.0.1", "its address 100.64.1.200 is not used: it is another's"},
		{"ours alone", one, "10.20.0.1", ""},
		{"another's alone again: the one of before stays", two, "10.20.0.1", "its address 100.64.1.200 is not used: it is another's"},
	} {
		s.set(erp, step.records)
		n.Refresh(t.Context(), s.resolver(t), time.Now(), forbid)
		if n.Address.String() != step.address || !strings.Contains(n.Problem, step.problem) || step.problem == "" && n.Problem != "" {
			t.Errorf("%s: %s, %q", step.sentence, n.Address, n.Problem)
		}
	}
}
