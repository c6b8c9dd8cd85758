//go:build e2e

package netns

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestMain(m *testing.M) { os.Exit(Main(m)) }

// TestNamespacesOfOneLabel are apart, and leave nothing.
func TestNamespacesOfOneLabel(t *testing.T) {
	t.Run("both at once", func(t *testing.T) {
		a, b := New(t, "twin"), New(t, "twin")
		Wire(t, a, "net", b, "net")
		a.IP(t, "addr add 192.0.2.1/30 dev net")
		b.IP(t, "addr add 192.0.2.2/30 dev net")
		a.Echo(t, "192.0.2.1:7")
		for n, found := range map[Namespace]bool{a: false, b: true} {
			c, err := n.Dial("192.0.2.2", "192.0.2.1:7", time.Second)
			if err == nil {
				c.Close()
			}
			if (err == nil) != found {
				t.Errorf("from %s: %v", n, err)
			}
		}
	})
	left, err := filepath.Glob("/run/netns/*")
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v (%v)", left, err)
	}
}

// TestCaptureLosesNothing of what came before its end.
func TestCaptureLosesNothing(t *testing.T) {
	const sent = 1000
	r := NewRow(t)
	r.Ours.Echo(t, "10.254.0.5:7")
	seen := r.Gateway.Capture(t, "net1")
	c, err := r.Gateway.DialUDP("10.254.0.18", "10.254.0.5:7")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for range sent {
		if _, err := c.Write([]byte("hello")); err != nil {
			t.Fatal(err)
		}
	}
	// The echo server has its turn when the machine gives it one: an answer that was read has passed.
	_ = c.SetReadDeadline(time.Now().Add(20 * time.Second))
	if _, err := c.Read(make([]byte, 16)); err != nil {
		t.Fatalf("no answer: %v", err)
	}
	seen.End()
	there := seen.Seen(func(p Packet) bool { return p.Protocol == unix.IPPROTO_UDP && p.To == 7 && p.Text == "hello" && p.Out })
	back := seen.Seen(func(p Packet) bool {
		return p.Protocol == unix.IPPROTO_UDP && p.From == 7 && p.Text == "hello" && !p.Out
	})
	if len(there) != sent || len(back) == 0 {
		t.Errorf("%d packets of %d, and %d answers", len(there), sent, len(back))
	}
}

// TestStreamThroughTheRow goes on while it is left alone, and is seen to stand still.
func TestStreamThroughTheRow(t *testing.T) {
	r := NewRow(t)
	r.Ours.Echo(t, "10.20.0.9:7")
	s := r.Peer.Stream(t, "192.168.255.2", "10.20.0.9:7")
	if !s.GoesOn() {
		t.Error("nothing flows")
	}
	r.Gateway.Nft(t, "table ip t { chain c { type filter hook forward priority 0; policy drop; }; }")
	time.Sleep(100 * time.Millisecond)
	if s.Flows(300*time.Millisecond) || s.Silence() < 300*time.Millisecond {
		t.Error("it flows through a closed gateway")
	}
	r.Gateway.Run(t, "nft", "flush", "ruleset")
	Eventually(t, "it goes on", 10*time.Second, func() bool { return s.Silence() < 100*time.Millisecond })
	if gap, err := s.Longest(); err != nil || gap < 300*time.Millisecond {
		t.Errorf("the longest pause was %s (%v)", gap, err)
	}
}

// TestCharonHangsAndIsKilled, and answers again each time.
func TestCharonHangsAndIsKilled(t *testing.T) {
	c := NewCharon(t, New(t, "gateway"), t.TempDir(), PodSettings())
	c.Start(t)
	c.Hang(t)
	conn, err := net.Dial("unix", c.Socket())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Write([]byte("\x00\x00\x00\x09\x00\x07version")); err != nil {
		t.Fatal(err)
	}
	_ = conn.SetReadDeadline(time.Now().Add(300 * time.Millisecond))
	if n, err := conn.Read(make([]byte, 64)); err == nil {
		t.Errorf("%d bytes of an answer, from a daemon that hangs", n)
	}
	c.Resume(t)
	c.Answers(t)
	c.Kill()
	if _, err := net.Dial("unix", c.Socket()); err == nil {
		t.Error("a dead daemon listens")
	}
	c.Start(t)
	if !strings.Contains(c.Log.String(), "loaded plugins") {
		t.Errorf("its log:\n%s", c.Log.String())
	}
}
