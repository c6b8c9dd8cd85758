package firewall

import (
	"encoding/binary"
	"errors"
	"net/netip"

	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"
)

// statusTranslated says that a connection's destination was translated, and is what
// the ruleset's "ct status dnat" asks for (IPS_DST_NAT in
// linux/netfilter/nf_conntrack_common.h).
const statusTranslated = 1 << 5

// flow is a translated connection that the kernel follows.
type flow struct {
	source   netip.Addr
	virtual  netip.Addr // where its first packet was sent
	target   netip.Addr // where that went instead
	protocol uint8
	port     uint16 // of the virtual IP and the target; 0 where the protocol has none
}

// listed is one connection as the kernel lists it: the attributes that matter, each
// whole, and good until the next one is read.
type listed struct{ status, original, reply, id, zone attribute }

func listedOf(message []byte) (l listed, err error) {
	err = attributes(message[min(len(message), nl.SizeofNfgenmsg):], func(kind uint16, a attribute) {
		switch kind {
		case nl.CTA_STATUS:
			l.status = a
		case nl.CTA_TUPLE_ORIG:
			l.original = a
		case nl.CTA_TUPLE_REPLY:
			l.reply = a
		case nl.CTA_ID:
			l.id = a
		case nl.CTA_ZONE:
			l.zone = a
		}
	})
	if err == nil && len(l.status.value()) != 4 {
		err = errors.New("a connection without a status")
	}
	return l, err
}

func (l listed) translated() bool {
	return binary.BigEndian.Uint32(l.status.value())&statusTranslated != 0
}

// identity appends what names this connection and no later one of the same addresses.
func (l listed) identity(to []byte) []byte {
	return append(append(append(to, l.original...), l.id...), l.zone...)
}

func (l listed) flow() (flow, error) {
	first, err := tupleOf(l.original)
	if err != nil {
		return flow{}, err
	}
	answer, err := tupleOf(l.reply)
	if err != nil {
		return flow{}, err
	}
	return flow{source: first.source, virtual: first.destination, target: answer.source, protocol: first.protocol, port: first.port}, nil
}

// tuple is one direction of a connection.
type tuple struct {
	source, destination netip.Addr
	protocol            uint8
	port                uint16 // it goes to
}

func tupleOf(a attribute) (t tuple, err error) {
	known := false
	note := func(kind uint16, a attribute) {
		switch kind {
		case nl.CTA_IP_V4_SRC:
			t.source, _ = netip.AddrFromSlice(a.value())
		case nl.CTA_IP_V4_DST:
			t.destination, _ = netip.AddrFromSlice(a.value())
		}
	}
	noteProtocol := func(kind uint16, a attribute) {
		switch value := a.value(); {
		case kind == nl.CTA_PROTO_NUM && len(value) == 1:
			t.protocol, known = value[0], true
		case kind == nl.CTA_PROTO_DST_PORT && len(value) == 2:
			t.port = binary.BigEndian.Uint16(value)
		}
	}
	var broken error
	err = attributes(a.value(), func(kind uint16, a attribute) {
		switch kind {
		case nl.CTA_TUPLE_IP:
			broken = errors.Join(broken, attributes(a.value(), note))
		case nl.CTA_TUPLE_PROTO:
			broken = errors.Join(broken, attributes(a.value(), noteProtocol))
		}
	})
	if err = errors.Join(err, broken); err == nil && (!t.source.IsValid() || !t.destination.IsValid() || !known) {
		err = errors.New("a connection without addresses or protocol")
	}
	return t, err
}

// attribute is one of a netlink message, with its header and what fills it up.
type attribute []byte

func (a attribute) value() []byte {
	if len(a) < unix.SizeofRtAttr {
		return nil
	}
	return a[unix.SizeofRtAttr:nl.NativeEndian().Uint16(a)]
}

// attributes calls f with each attribute, and its number without the bits that say how
// it is written.
func attributes(data []byte, f func(kind uint16, a attribute)) error {
	for len(data) >= unix.SizeofRtAttr {
		length := int(nl.NativeEndian().Uint16(data))
		if length < unix.SizeofRtAttr || length > len(data) {
			return errors.New("an attribute that ends beyond its message")
		}
		padded := min((length+unix.RTA_ALIGNTO-1)&^(unix.RTA_ALIGNTO-1), len(data))
		f(nl.NativeEndian().Uint16(data[2:])&nl.NLA_TYPE_MASK, attribute(data[:padded:padded]))
		data = data[padded:]
	}
	return nil
}
