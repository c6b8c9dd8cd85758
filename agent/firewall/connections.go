package firewall

import (
	"errors"
	"fmt"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netlink/nl"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"
)

// connections talks to the kernel's connection tracking.
type connections struct{ sockets map[int]*nl.SocketHandle }

func openConnections() (connections, error) {
	socket, err := nl.GetNetlinkSocketAt(netns.None(), netns.None(), unix.NETLINK_NETFILTER)
	if err != nil {
		return connections{}, fmt.Errorf("opening connection tracking: %w", err)
	}
	return connections{map[int]*nl.SocketHandle{unix.NETLINK_NETFILTER: {Socket: socket}}}, nil
}

func (c connections) socket() *nl.NetlinkSocket { return c.sockets[unix.NETLINK_NETFILTER].Socket }

func (c connections) close() { c.sockets[unix.NETLINK_NETFILTER].Close() }

// each calls f with every translated IPv4 connection.
func (c connections) each(f func(listed) error) error {
	request := nl.NewNetlinkRequest(netlink.ConntrackTable<<8|nl.IPCTNL_MSG_CT_GET, unix.NLM_F_DUMP)
	request.Sockets = c.sockets
	request.AddData(&nl.Nfgenmsg{NfgenFamily: unix.AF_INET, Version: nl.NFNETLINK_V0})
	// Newer kernels leave the others out of the list; older ones don't know how.
	request.AddData(nl.NewRtAttr(nl.CTA_STATUS, nl.BEUint32Attr(statusTranslated)))
	var broken error
	err := request.ExecuteIter(unix.NETLINK_NETFILTER, 0, func(message []byte) bool {
		var l listed
		if l, broken = listedOf(message); broken == nil && l.translated() {
			broken = f(l)
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

// perMessage is how many deletions the kernel gets at once: all their answers fit into
// a socket's usual buffer.
const perMessage = 100

// deletions are connections to end, as messages for the kernel that ask for no answer
// unless there is an error.
type deletions struct {
	text   []byte
	starts []int // of each message
}

func (d *deletions) reset() { d.text, d.starts = d.text[:0], d.starts[:0] }

func (d *deletions) add(l listed) {
	start := len(d.text)
	d.starts = append(d.starts, start)
	d.text = append(d.text, make([]byte, unix.SizeofNlMsghdr)...)
	d.text = append(d.text, (&nl.Nfgenmsg{NfgenFamily: unix.AF_INET, Version: nl.NFNETLINK_V0}).Serialize()...)
	d.text = l.identity(d.text)
	header := d.text[start:]
	endian := nl.NativeEndian()
	endian.PutUint32(header, uint32(len(header)))
	endian.PutUint16(header[4:], netlink.ConntrackTable<<8|nl.IPCTNL_MSG_CT_DELETE)
	endian.PutUint16(header[6:], unix.NLM_F_REQUEST)
	endian.PutUint32(header[8:], uint32(len(d.starts)))
}

// end deletes them, and tells how many had not ended by themselves. Of thousands that
// fail alike, one error will do.
func (c connections) end(d *deletions) (ended int, err error) {
	for first := 0; first < len(d.starts); first += perMessage {
		last := min(first+perMessage, len(d.starts))
		stop := len(d.text)
		if last < len(d.starts) {
			stop = d.starts[last]
		}
		// The kernel takes them in order: the answer to the last one is the end.
		nl.NativeEndian().PutUint16(d.text[d.starts[last-1]+6:], unix.NLM_F_REQUEST|unix.NLM_F_ACK)
		failed, problem := c.ask(d.text[d.starts[first]:stop], last-first, uint32(last))
		ended += last - first - failed
		if err == nil && problem != nil {
			err = fmt.Errorf("ending connections: %w", problem)
		}
		if failed == last-first && problem != nil {
			break // nobody listens
		}
	}
	return ended, err
}

// ask sends some messages and reads what the kernel has to say until it says something
// of the last one. It counts those that failed; that a connection isn't there is no
// error.
func (c connections) ask(messages []byte, count int, last uint32) (failed int, err error) {
	fd := c.socket().GetFd()
	if err := unix.Sendto(fd, messages, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return count, err
	}
	for {
		answers, _, problem := c.socket().Receive()
		if problem != nil {
			return count, problem
		}
		for _, a := range answers {
			if a.Header.Type != unix.NLMSG_ERROR || len(a.Data) < 4 {
				continue
			}
			if number := unix.Errno(-int32(nl.NativeEndian().Uint32(a.Data))); number != 0 {
				failed++
				if err == nil && !errors.Is(number, unix.ENOENT) {
					err = number
				}
			}
			if a.Header.Seq == last {
				return failed, err
			}
		}
	}
}
