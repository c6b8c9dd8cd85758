//go:build e2e

package vici

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/vpnctl/vpnctl/agent/lab/netns"
	"github.com/vpnctl/vpnctl/render/swanctl"
)

// nobody is an address at which nobody answers.
func nobody(i int) netip.Addr { return netip.AddrFrom4([4]byte{198, 18, byte(i >> 8), byte(i)}) }

// TestTwoThousand connections load, and their SAs list completely, while another
// session and this one initiate. Most SAs are being set up with a peer that doesn't
// answer; some are up.
func TestTwoThousand(t *testing.T) {
	const total, established, lists = 2000, 40, 20
	gateway, peer := lab(t, "retransmit_timeout = 60")
	s := dial(t, gateway.Socket())
	var all []swanctl.Connection
	for i := range total {
		c := tunnel(fmt.Sprintf("c%04d", i), i%64)
		if i >= established {
			c.Address = nobody(i)
		}
		all = append(all, c)
	}
	peer.serves(t, []byte(password), all[:established]...)
	start := time.Now()
	pushed(t, s, []byte(password), all...)
	t.Logf("%d connections with a key each loaded in %s", total, time.Since(start))
	if names, err := s.Connections(t.Context()); len(names) != total || err != nil {
		t.Fatalf("%d connections are loaded, %v", len(names), err)
	}
	heard, _ := listen(t, t.Context(), gateway.Socket())
	start = time.Now()
	for _, c := range all {
		initiate(t, s, c)
	}
	t.Logf("%d initiated in %s", total, time.Since(start))
	netns.Eventually(t, "all SAs are there", 60*time.Second, func() bool { return count(t, s) == [2]int{total, established} })

	told := map[string]bool{}
	for len(told) < established {
		told[next(t, heard).Connection] = true
	}

	rest := all[established:]
	quiet := []func() int{initiating(t, s, rest), initiating(t, dial(t, gateway.Socket()), rest)}
	var longest, sum time.Duration
	for range lists {
		start := time.Now()
		got := count(t, s)
		took := time.Since(start)
		longest, sum = max(longest, took), sum+took
		if got != [2]int{total, established} {
			t.Errorf("%d SAs, %d of them up; want %d, %d", got[0], got[1], total, established)
		}
	}
	t.Logf("%d lists of %d SAs: %s on average, %s at most, with %d initiates on the same session and %d on another",
		lists, total, sum/lists, longest, quiet[0](), quiet[1]())
	start = time.Now()
	count(t, s)
	t.Logf("one list of %d SAs with nothing else going on: %s", total, time.Since(start))
}

// initiating initiates over and over; the function that it returns stops that, and
// returns how many there were.
func initiating(t *testing.T, s *Session, all []swanctl.Connection) func() int {
	t.Helper()
	stop, stopped := make(chan bool), make(chan int)
	go func() {
		for n := 0; ; n++ {
			select {
			case <-stop:
				stopped <- n
				return
			default:
			}
			c := all[n%len(all)]
			if err := s.Initiate(t.Context(), c.Name, c.Children[0].Name); err != nil {
				t.Errorf("initiating meanwhile: %v", err)
			}
		}
	}()
	return func() int { close(stop); return <-stopped }
}

// count is how many connections have an SA, and how many are up. An SA listed twice
// fails the test.
func count(t *testing.T, s *Session) [2]int {
	t.Helper()
	all, err := s.SAs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	seen, up := map[uint32]bool{}, 0
	names := map[string]bool{}
	for _, sa := range all {
		if seen[sa.ID] {
			t.Errorf("SA %d of %s is listed twice", sa.ID, sa.Connection)
		}
		seen[sa.ID], names[sa.Connection] = true, true
		if sa.State == Established && len(sa.Children) == 1 && sa.Children[0].State == Installed {
			up++
		}
	}
	return [2]int{len(names), up}
}
