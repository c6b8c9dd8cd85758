//go:build e2e

package lab

import (
	"encoding/binary"
	"net"
	"net/netip"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// packet is what was seen of an IPv4 packet.
type packet struct {
	Source, Destination netip.Addr
	Protocol            uint8
	From, To            uint16 // ports of UDP and TCP
	Length              int
	Text                string // what UDP or TCP carries
}

// capture sees what passes one interface.
type capture struct {
	mu   sync.Mutex
	all  []packet
	stop chan struct{}
	done sync.WaitGroup
}

// capturing listens on an interface until the test, or the returned capture, ends.
func capturing(t *testing.T, n netns, nic string) *capture {
	t.Helper()
	var socket int
	err := n.do(func() (err error) {
		socket, err = unix.Socket(unix.AF_PACKET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, int(htons(unix.ETH_P_ALL)))
		if err != nil {
			return err
		}
		link, err := net.InterfaceByName(nic)
		if err != nil {
			return err
		}
		return unix.Bind(socket, &unix.SockaddrLinklayer{Protocol: htons(unix.ETH_P_ALL), Ifindex: link.Index})
	})
	if err != nil {
		t.Fatalf("capturing on %s of %s: %v", nic, n, err)
	}
	unix.SetsockoptTimeval(socket, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Usec: 50_000})
	unix.SetsockoptInt(socket, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, 8<<20)
	c := &capture{stop: make(chan struct{})}
	c.done.Go(func() {
		defer unix.Close(socket)
		buffer := make([]byte, 65536)
		for {
			select {
			case <-c.stop:
				return
			default:
			}
			if size, _, err := unix.Recvfrom(socket, buffer, 0); err == nil {
				c.note(buffer[:size])
			}
		}
	})
	t.Cleanup(func() { c.end() })
	return c
}

// silence waits until connections that have ended are over on the wire as well.
func silence(t *testing.T, n netns, nic string) {
	t.Helper()
	for range 30 {
		c := capturing(t, n, nic)
		time.Sleep(300 * time.Millisecond)
		c.end()
		if len(c.seen(func(p packet) bool { return p.Protocol == unix.IPPROTO_TCP })) == 0 {
			return
		}
	}
	t.Fatalf("%s of %s is never silent", nic, n)
}

func htons(v uint16) uint16 { return v<<8 | v>>8 }

// end stops the capture and returns what was seen.
func (c *capture) end() []packet {
	select {
	case <-c.stop:
	default:
		close(c.stop)
	}
	c.done.Wait()
	return c.seen(func(packet) bool { return true })
}

// seen are the packets so far that f picks.
func (c *capture) seen(f func(packet) bool) (found []packet) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range c.all {
		if f(p) {
			found = append(found, p)
		}
	}
	return found
}

func (c *capture) note(b []byte) {
	if len(b) < 20 || b[0]>>4 != 4 {
		return
	}
	header := int(b[0]&15) * 4
	source, _ := netip.AddrFromSlice(b[12:16])
	destination, _ := netip.AddrFromSlice(b[16:20])
	p := packet{Source: source, Destination: destination, Protocol: b[9], Length: len(b)}
	if rest := b[min(header, len(b)):]; len(rest) >= 8 && (p.Protocol == unix.IPPROTO_TCP || p.Protocol == unix.IPPROTO_UDP) {
		p.From, p.To = binary.BigEndian.Uint16(rest), binary.BigEndian.Uint16(rest[2:])
		data := 8
		if p.Protocol == unix.IPPROTO_TCP && len(rest) > 12 {
			data = int(rest[12]>>4) * 4
		}
		p.Text = string(rest[min(data, len(rest)):])
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all = append(c.all, p)
}
