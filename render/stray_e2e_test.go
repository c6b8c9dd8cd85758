//go:build e2e

package render

import (
	"errors"
	"net"
	"time"

	"golang.org/x/sys/unix"

	"github.com/vpnctl/vpnctl/agent/lab/netns"
)

// unguarded is what stands in for a ruleset that was tampered with: flows are
// followed, and nothing is held back.
const unguarded = `table inet vpnctl
delete table inet vpnctl
table inet vpnctl { chain forward { type filter hook forward priority filter; ct state new accept; }; }
`

// strays sends what counts as of another flow, or of one before: an error about a
// granted flow arrives; a flow that began, untranslated, while anything could pass
// ends with the ruleset, and a granted one goes on.
func (l *lab) strays(ruleset string) {
	l.t.Helper()
	for sentence, c := range map[string]struct {
		n        netns.Namespace
		from, to string
	}{
		"a peer":   {l.Peer, "192.168.10.9", "100.64.7.11:7777"},
		"our side": {l.Ours, "10.254.0.5", "100.64.7.201:7777"},
	} {
		if err := exchange(l.dial(c.n, c.from, c.to), soon); !errors.Is(err, unix.ECONNREFUSED) {
			l.t.Errorf("%s isn't told that nobody listens: %v", sentence, err)
		}
	}
	l.Ours.Echo(l.t, "10.20.0.9:7")
	granted := l.dial(l.Peer, "192.168.10.9", "100.64.7.11:7")
	before := exchange(granted, soon)
	l.Gateway.Nft(l.t, unguarded)
	stray := l.dial(l.Peer, "192.168.255.2", "10.20.0.9:7")
	if err := errors.Join(before, exchange(stray, soon)); err != nil {
		l.t.Fatal(err)
	}
	l.Gateway.Nft(l.t, ruleset)
	if err := exchange(granted, soon); err != nil {
		l.t.Errorf("a granted flow ends with a reload: %v", err)
	}
	if exchange(stray, never) == nil {
		l.t.Error("a flow that was never granted goes on")
	}
}

// dial opens a UDP socket for as long as the test.
func (l *lab) dial(n netns.Namespace, from, to string) net.Conn {
	l.t.Helper()
	c, err := n.DialUDP(from, to)
	if err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(func() { c.Close() })
	return c
}

// exchange sends a packet and waits for the answer.
func exchange(c net.Conn, within time.Duration) error {
	if err := c.SetDeadline(time.Now().Add(within)); err != nil {
		return err
	}
	if _, err := c.Write([]byte("hello")); err != nil {
		return err
	}
	_, err := c.Read(make([]byte, 64))
	return err
}
