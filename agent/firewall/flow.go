package firewall

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netlink/nl"
	"github.com/vishvananda/netns"
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

	identity []*nl.RtAttr // names this connection and no later one of the same addresses
}

// flowOf reads one connection of the kernel's list, and false if its destination
// wasn't translated.
func flowOf(message []byte) (flow, bool, error) {
	all, err := attributes(message[min(len(message), nl.SizeofNfgenmsg):])
	if err != nil {
		return flow{}, false, err
	}
	status := all[nl.CTA_STATUS]
	if len(status) != 4 {
		return flow{}, false, errors.New("a connection without a status")
	}
	if binary.BigEndian.Uint32(status)&statusTranslated == 0 {
		return flow{}, false, nil
	}
	first, err := tupleOf(all[nl.CTA_TUPLE_ORIG])
	if err != nil {
		return flow{}, false, err
	}
	answer, err := tupleOf(all[nl.CTA_TUPLE_REPLY])
	if err != nil {
		return flow{}, false, err
	}
	f := flow{source: first.source, virtual: first.destination, target: answer.source, protocol: first.protocol, port: first.port}
	f.identity = append(f.identity, nl.NewRtAttr(unix.NLA_F_NESTED|nl.CTA_TUPLE_ORIG, all[nl.CTA_TUPLE_ORIG]))
	for _, kind := range []int{nl.CTA_ID, nl.CTA_ZONE} {
		if value, ok := all[uint16(kind)]; ok {
			f.identity = append(f.identity, nl.NewRtAttr(kind, value))
		}
	}
	return f, true, nil
}

// tuple is one direction of a connection.
type tuple struct {
	source, destination netip.Addr
	protocol            uint8
	port                uint16 // it goes to
}

func tupleOf(data []byte) (t tuple, err error) {
	parts, err := attributes(data)
	if err != nil {
		return t, err
	}
	addresses, err := attributes(parts[nl.CTA_TUPLE_IP])
	if err != nil {
		return t, err
	}
	ports, err := attributes(parts[nl.CTA_TUPLE_PROTO])
	if err != nil {
		return t, err
	}
	source, from := netip.AddrFromSlice(addresses[nl.CTA_IP_V4_SRC])
	destination, to := netip.AddrFromSlice(addresses[nl.CTA_IP_V4_DST])
	number := ports[nl.CTA_PROTO_NUM]
	if !from || !to || len(number) != 1 {
		return t, errors.New("a connection without addresses or protocol")
	}
	t = tuple{source: source, destination: destination, protocol: number[0]}
	if port := ports[nl.CTA_PROTO_DST_PORT]; len(port) == 2 {
		t.port = binary.BigEndian.Uint16(port)
	}
	return t, nil
}

// attributes of a netlink message by their number, without the bits that say how
// they are written.
func attributes(data []byte) (map[uint16][]byte, error) {
	list, err := nl.ParseRouteAttr(data)
	if err != nil {
		return nil, err
	}
	all := make(map[uint16][]byte, len(list))
	for _, a := range list {
		all[a.Attr.Type&nl.NLA_TYPE_MASK] = a.Value
	}
	return all, nil
}

// connections talks to the kernel's connection tracking.
type connections struct{ sockets map[int]*nl.SocketHandle }

func openConnections() (connections, error) {
	socket, err := nl.GetNetlinkSocketAt(netns.None(), netns.None(), unix.NETLINK_NETFILTER)
	if err != nil {
		return connections{}, fmt.Errorf("opening connection tracking: %w", err)
	}
	return connections{map[int]*nl.SocketHandle{unix.NETLINK_NETFILTER: {Socket: socket}}}, nil
}

func (c connections) close() { c.sockets[unix.NETLINK_NETFILTER].Close() }

func (c connections) request(operation, flags int) *nl.NetlinkRequest {
	r := nl.NewNetlinkRequest(netlink.ConntrackTable<<8|operation, flags)
	r.Sockets = c.sockets
	r.AddData(&nl.Nfgenmsg{NfgenFamily: unix.AF_INET, Version: nl.NFNETLINK_V0})
	return r
}

// each calls f with every translated IPv4 connection.
func (c connections) each(f func(flow)) error {
	request := c.request(nl.IPCTNL_MSG_CT_GET, unix.NLM_F_DUMP)
	// Newer kernels leave the others out of the list; older ones don't know how.
	request.AddData(nl.NewRtAttr(nl.CTA_STATUS, nl.BEUint32Attr(statusTranslated)))
	var broken error
	err := request.ExecuteIter(unix.NETLINK_NETFILTER, 0, func(message []byte) bool {
		found, translated, err := flowOf(message)
		if err != nil {
			broken = err
		} else if translated {
			f(found)
		}
		return broken == nil
	})
	if err == nil {
		err = broken
	}
	if err != nil {
		return fmt.Errorf("listing connections: %w", err)
	}
	return nil
}

// end deletes one connection, and returns false if it had ended already.
func (c connections) end(f flow) (bool, error) {
	request := c.request(nl.IPCTNL_MSG_CT_DELETE, unix.NLM_F_ACK)
	for _, a := range f.identity {
		request.AddData(a)
	}
	_, err := request.Execute(unix.NETLINK_NETFILTER, 0)
	if errors.Is(err, unix.ENOENT) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("ending the connection from %s to %s: %w", f.source, f.virtual, err)
	}
	return true, nil
}
