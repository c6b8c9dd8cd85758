//go:build e2e

package netns

import (
	"encoding/binary"
	"net"
	"net/netip"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Packet is what was seen of an IPv4 packet.
type Packet struct {
	Source, Destination netip.Addr
	Protocol            uint8
	From, To            uint16 // ports of UDP and TCP
	Length              int
	Text                string // what UDP or TCP carries
	Out                 bool   // leaves by the interface; else it has come in
}

// Capture sees what passes one interface.
type Capture struct {
	mu   sync.Mutex
	all  []Packet
	stop chan struct{}
	done sync.WaitGroup
}

// Capture listens on an interface until the test, or the returned capture, ends.
func (n Namespace) Capture(t *testing.T, nic string) *Capture {
	t.Helper()
	var socket int
	err := n.Do(func() (err error) {
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
	c := &Capture{stop: make(chan struct{})}
	c.done.Go(func() { c.listen(socket) })
	t.Cleanup(func() { c.End() })
	return c
}

// listen ends once it has read all that had come before the end.
func (c *Capture) listen(socket int) {
	defer unix.Close(socket)
	buffer := make([]byte, 65536)
	for flags := 0; ; {
		select {
		case <-c.stop:
			flags = unix.MSG_DONTWAIT
		default:
		}
		size, from, err := unix.Recvfrom(socket, buffer, flags)
		if err == nil {
			link, _ := from.(*unix.SockaddrLinklayer)
			c.note(buffer[:size], link != nil && link.Pkttype == unix.PACKET_OUTGOING)
		} else if flags != 0 && err != unix.EINTR {
			return
		}
	}
}

// Quiet waits until connections that have ended are over on the wire as well.
func (n Namespace) Quiet(t *testing.T, nic string) {
	t.Helper()
	for range 30 {
		c := n.Capture(t, nic)
		time.Sleep(300 * time.Millisecond)
		c.End()
		if len(c.Seen(func(p Packet) bool { return p.Protocol == unix.IPPROTO_TCP })) == 0 {
			return
		}
	}
	t.Fatalf("%s of %s is never quiet", nic, n)
}

func htons(v uint16) uint16 { return v<<8 | v>>8 }

// End stops the capture and returns what was seen.
func (c *Capture) End() []Packet {
	select {
	case <-c.stop:
	default:
		close(c.stop)
	}
	c.done.Wait()
	return c.Seen(func(Packet) bool { return true })
}

// Seen are the packets so far that f picks.
func (c *Capture) Seen(f func(Packet) bool) (found []Packet) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range c.all {
		if f(p) {
			found = append(found, p)
		}
	}
	return found
}

func (c *Capture) note(b []byte, out bool) {
	if len(b) < 20 || b[0]>>4 != 4 {
		return
	}
	header := int(b[0]&15) * 4
	source, _ := netip.AddrFromSlice(b[12:16])
	destination, _ := netip.AddrFromSlice(b[16:20])
	p := Packet{Source: source, Destination: destination, Protocol: b[9], Length: len(b), Out: out}
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
