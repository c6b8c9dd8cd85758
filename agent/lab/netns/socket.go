//go:build e2e

package netns

import (
	"io"
	"net"
	"sync"
	"testing"
	"time"
)

// Listen opens a TCP listener on a literal address.
func (n Namespace) Listen(address string) (l net.Listener, err error) {
	err = n.Do(func() error { l, err = net.Listen("tcp4", address); return err })
	return l, err
}

// ListenUDP opens a UDP socket on a literal address.
func (n Namespace) ListenUDP(address string) (c net.PacketConn, err error) {
	err = n.Do(func() error { c, err = net.ListenPacket("udp4", address); return err })
	return c, err
}

// Dial opens a TCP connection from an address, empty for any, to a literal one.
func (n Namespace) Dial(from, to string, within time.Duration) (c net.Conn, err error) {
	d := net.Dialer{Timeout: within}
	if from != "" {
		d.LocalAddr = &net.TCPAddr{IP: net.ParseIP(from)}
	}
	err = n.Do(func() error { c, err = d.Dial("tcp4", to); return err })
	return c, err
}

// DialUDP opens a UDP socket from one address to another.
func (n Namespace) DialUDP(from, to string) (c net.Conn, err error) {
	d := net.Dialer{LocalAddr: &net.UDPAddr{IP: net.ParseIP(from)}}
	err = n.Do(func() error { c, err = d.Dial("udp4", to); return err })
	return c, err
}

// Serve hands every connection to an address to f, until the test ends. It is closed
// after f.
func (n Namespace) Serve(t *testing.T, address string, f func(net.Conn)) {
	t.Helper()
	l, err := n.Listen(address)
	if err != nil {
		t.Fatalf("listening in %s: %v", n, err)
	}
	var done sync.WaitGroup
	done.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				f(c)
			}()
		}
	})
	t.Cleanup(func() {
		l.Close()
		done.Wait()
	})
}

// Echo sends back what comes on an address, by TCP and UDP.
func (n Namespace) Echo(t *testing.T, address string) {
	t.Helper()
	n.Serve(t, address, func(c net.Conn) { _, _ = io.Copy(c, c) })
	packets, err := n.ListenUDP(address)
	if err != nil {
		t.Fatalf("listening in %s: %v", n, err)
	}
	var done sync.WaitGroup
	done.Go(func() {
		buffer := make([]byte, 2048)
		for {
			size, from, err := packets.ReadFrom(buffer)
			if err != nil {
				return
			}
			_, _ = packets.WriteTo(buffer[:size], from)
		}
	})
	t.Cleanup(func() {
		packets.Close()
		done.Wait()
	})
}
