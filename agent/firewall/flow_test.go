package firewall

import (
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"
)

// packed is an attribute, or nested ones, as the kernel writes them.
func packed(kind int, data []byte, children ...*nl.RtAttr) *nl.RtAttr {
	if len(children) > 0 {
		kind |= unix.NLA_F_NESTED
	}
	a := nl.NewRtAttr(kind, data)
	for _, c := range children {
		a.AddChild(c)
	}
	return a
}

func packedTuple(kind int, source, destination string, protocol byte, ports ...uint16) *nl.RtAttr {
	proto := []*nl.RtAttr{packed(nl.CTA_PROTO_NUM, []byte{protocol})}
	if len(ports) == 2 {
		proto = append(proto, packed(nl.CTA_PROTO_SRC_PORT, nl.BEUint16Attr(ports[0])), packed(nl.CTA_PROTO_DST_PORT, nl.BEUint16Attr(ports[1])))
	}
	return packed(kind, nil,
		packed(nl.CTA_TUPLE_IP, nil,
			packed(nl.CTA_IP_V4_SRC, netip.MustParseAddr(source).AsSlice()), packed(nl.CTA_IP_V4_DST, netip.MustParseAddr(destination).AsSlice())),
		packed(nl.CTA_TUPLE_PROTO, nil, proto...))
}

func message(attributes ...*nl.RtAttr) []byte {
	data := (&nl.Nfgenmsg{NfgenFamily: unix.AF_INET}).Serialize()
	for _, a := range attributes {
		data = append(data, a.Serialize()...)
	}
	return data
}

func status(bits uint32) *nl.RtAttr { return packed(nl.CTA_STATUS, nl.BEUint32Attr(bits)) }

// read is the flow of a message, if it is translated.
func read(message []byte) (f flow, translated bool, err error) {
	l, err := listedOf(message)
	if err != nil || !l.translated() {
		return flow{}, false, err
	}
	f, err = l.flow()
	return f, true, err
}

func TestConnectionsAsTheKernelListsThem(t *testing.T) {
	original := packedTuple(nl.CTA_TUPLE_ORIG, "192.168.10.9", "100.64.7.10", 6, 40000, 443)
	answer := packedTuple(nl.CTA_TUPLE_REPLY, "10.20.0.5", "10.254.0.18", 6, 443, 40000)
	want := from("tcp", "192.168.10.9", "100.64.7.10", 443, "10.20.0.5")
	for sentence, c := range map[string]struct {
		message    []byte
		want       flow
		translated bool
	}{
		"translated":                    {message(original, answer, status(0x1ae)), want, true},
		"not translated":                {message(original, answer, status(0x188)), flow{}, false},
		"its source translated, only":   {message(original, answer, status(0x10)), flow{}, false},
		"without ports":                 {message(packedTuple(nl.CTA_TUPLE_ORIG, "192.168.10.9", "100.64.7.10", 1), packedTuple(nl.CTA_TUPLE_REPLY, "10.20.0.5", "10.254.0.18", 1), status(0x20)), from("icmp", "192.168.10.9", "100.64.7.10", 0, "10.20.0.5"), true},
		"with an identity and a zone":   {message(original, answer, status(0x20), packed(nl.CTA_ID, nl.BEUint32Attr(7)), packed(nl.CTA_ZONE, nl.BEUint16Attr(3))), want, true},
		"with what we know nothing of":  {message(packed(99, []byte{1, 2, 3}), original, answer, status(0x20)), want, true},
		"in another order of its parts": {message(status(0x20), answer, original), want, true},
	} {
		got, translated, err := read(c.message)
		if err != nil || translated != c.translated {
			t.Errorf("%s: translated %t (%v), want %t", sentence, translated, err, c.translated)
		}
		if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(flow{}), cmp.Comparer(func(a, b netip.Addr) bool { return a == b })); diff != "" {
			t.Errorf("%s (-want +got)\n%s", sentence, diff)
		}
	}
}

func TestConnectionIsNamedByMoreThanItsAddresses(t *testing.T) {
	original := packedTuple(nl.CTA_TUPLE_ORIG, "192.168.10.9", "100.64.7.10", 6, 40000, 443)
	id, zone := packed(nl.CTA_ID, nl.BEUint32Attr(7)), packed(nl.CTA_ZONE, nl.BEUint16Attr(3))
	l, err := listedOf(message(original, packedTuple(nl.CTA_TUPLE_REPLY, "10.20.0.5", "10.254.0.18", 6, 443, 40000), status(0x20), id, zone))
	if err != nil {
		t.Fatal(err)
	}
	got := l.identity(message())
	if diff := cmp.Diff(message(original, id, zone), got); diff != "" {
		t.Errorf("what a deletion asks for (-want +got)\n%s", diff)
	}
}

func TestBrokenMessagesAreErrors(t *testing.T) {
	original := packedTuple(nl.CTA_TUPLE_ORIG, "192.168.10.9", "100.64.7.10", 6, 40000, 443)
	for sentence, data := range map[string][]byte{
		"nothing":              {},
		"no status":            message(original),
		"no answer":            message(original, status(0x20)),
		"no addresses":         message(original, packed(nl.CTA_TUPLE_REPLY, nil, packed(nl.CTA_TUPLE_PROTO, nil, packed(nl.CTA_PROTO_NUM, []byte{6}))), status(0x20)),
		"a status too short":   message(original, packed(nl.CTA_STATUS, []byte{1})),
		"a length beyond it":   append(message(status(0x20)), 0xff, 0, 1, 0),
		"cut off in its midst": message(status(0x20), original)[:30],
	} {
		if f, translated, err := read(data); err == nil {
			t.Errorf("%s: read as %v, %t", sentence, f, translated)
		}
	}
}
