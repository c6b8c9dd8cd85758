//go:build e2e

package render

import (
	"errors"
	"net"
	"os/exec"
	"strings"
	"time"

	"golang.org/x/sys/unix"
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
	for sentence, c := range map[string]struct{ namespace, from, to string }{
		"a peer":   {l.peer, "192.168.10.9", "100.64.7.11:7777"},
		"our side": {l.ours, "10.254.0.5", "100.64.7.201:7777"},
	} {
		if err := exchange(l.dial(c.namespace, c.from, c.to)); !errors.Is(err, unix.ECONNREFUSED) {
			l.t.Errorf("%s isn't told that nobody listens: %v", sentence, err)
		}
	}
	l.echo(l.ours, "10.20.0.9:7")
	granted := l.dial(l.peer, "192.168.10.9", "100.64.7.11:7")
	before := exchange(granted)
	l.load(unguarded)
	stray := l.dial(l.peer, "192.168.255.2", "10.20.0.9:7")
	if err := errors.Join(before, exchange(stray)); err != nil {
		l.t.Fatal(err)
	}
	l.load(ruleset)
	if err := exchange(granted); err != nil {
		l.t.Errorf("a granted flow ends with a reload: %v", err)
	}
	if exchange(stray) == nil {
		l.t.Error("a flow that was never granted goes on")
	}
}

// load replaces the gateway's ruleset.
func (l *lab) load(ruleset string) {
	l.t.Helper()
	nft := exec.Command("ip", "netns", "exec", l.gateway, "nft", "-f", "-")
	nft.Stdin = strings.NewReader(ruleset)
	if out, err := nft.CombinedOutput(); err != nil {
		l.t.Fatalf("%v\n%s", err, out)
	}
}

// echo answers every UDP packet with itself.
func (l *lab) echo(namespace, address string) {
	l.t.Helper()
	err := l.in(namespace, func() error {
		c, err := net.ListenPacket("udp4", address)
		if err != nil {
			return err
		}
		l.t.Cleanup(func() { c.Close() })
		go func() {
			data := make([]byte, 64)
			for {
				n, from, err := c.ReadFrom(data)
				if err != nil {
					return
				}
				_, _ = c.WriteTo(data[:n], from)
			}
		}()
		return nil
	})
	if err != nil {
		l.t.Fatal(err)
	}
}

// dial opens a UDP socket.
func (l *lab) dial(namespace, from, to string) (c net.Conn) {
	l.t.Helper()
	err := l.in(namespace, func() (err error) {
		d := net.Dialer{LocalAddr: &net.UDPAddr{IP: net.ParseIP(from)}}
		c, err = d.Dial("udp4", to)
		return err
	})
	if err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(func() { c.Close() })
	return c
}

// exchange sends a packet and waits for the answer.
func exchange(c net.Conn) error {
	if err := c.SetDeadline(time.Now().Add(700 * time.Millisecond)); err != nil {
		return err
	}
	if _, err := c.Write([]byte("hello")); err != nil {
		return err
	}
	_, err := c.Read(make([]byte, 64))
	return err
}
