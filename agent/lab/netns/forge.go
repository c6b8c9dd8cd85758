//go:build e2e

package netns

import (
	"encoding/binary"
	"net/netip"
	"testing"

	"golang.org/x/sys/unix"
)

// Forge is a way to send packets that no socket would.
type Forge struct {
	t      *testing.T
	socket int
}

// Forge opens one in a namespace, for as long as the test.
func (n Namespace) Forge(t *testing.T) *Forge {
	t.Helper()
	f := &Forge{t: t}
	err := n.Do(func() (err error) {
		f.socket, err = unix.Socket(unix.AF_INET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.IPPROTO_RAW)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(f.socket) })
	return f
}

// Send sends a whole IPv4 packet where its header says.
func (f *Forge) Send(packet []byte) {
	f.t.Helper()
	to := &unix.SockaddrInet4{Addr: [4]byte(packet[16:20])}
	for {
		switch err := unix.Sendto(f.socket, packet, 0, to); err {
		case nil:
			return
		case unix.EINTR, unix.ENOBUFS:
		default:
			f.t.Fatalf("sending a forged packet: %v", err)
		}
	}
}

// UDP is a datagram with eight bytes of text.
func UDP(from, to netip.AddrPort) []byte {
	b := make([]byte, 16)
	binary.BigEndian.PutUint16(b, from.Port())
	binary.BigEndian.PutUint16(b[2:], to.Port())
	binary.BigEndian.PutUint16(b[4:], uint16(len(b))) // without a checksum
	copy(b[8:], "forged..")
	return ip(unix.IPPROTO_UDP, from.Addr(), to.Addr(), b)
}

// Unreachable is ICMP's word from one address to another that a quoted packet didn't get
// through. For code 4 it had to be at most 600 bytes long.
func Unreachable(code byte, from, to netip.Addr, quoted []byte) []byte {
	b := append([]byte{3, code, 0, 0, 0, 0, 600 >> 8, 600 & 255}, quoted[:28]...)
	binary.BigEndian.PutUint16(b[2:], sum(b))
	return ip(unix.IPPROTO_ICMP, from, to, b)
}

func ip(protocol byte, from, to netip.Addr, payload []byte) []byte {
	b := make([]byte, 20, 20+len(payload))
	b[0], b[8], b[9] = 0x45, 64, protocol
	binary.BigEndian.PutUint16(b[2:], uint16(len(b)+len(payload)))
	copy(b[12:], from.AsSlice())
	copy(b[16:], to.AsSlice())
	binary.BigEndian.PutUint16(b[10:], sum(b))
	return append(b, payload...)
}

// sum is the Internet's checksum of an even number of bytes.
func sum(b []byte) uint16 {
	var s uint32
	for i := 0; i < len(b); i += 2 {
		s += uint32(binary.BigEndian.Uint16(b[i:]))
	}
	for s>>16 != 0 {
		s = s&0xffff + s>>16
	}
	return ^uint16(s)
}
