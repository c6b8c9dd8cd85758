package routing

import (
	"net"
	"net/netip"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// The routing tables of a gateway pod.
const (
	TablePort   = 100
	TableTunnel = 220 // charon's, too
)

// Mark is what WireGuard's own packets bear.
const Mark = 100

// The rules' priorities. The first one is charon's as well.
const (
	priorityTunnel = 90
	priorityMark   = 99
	prioritySource = 100
	priorityPort   = 101
	priorityIn     = 102
)

// protocol says of a route that it is ours (rtm_protocol in linux/rtnetlink.h; a
// number that nobody has registered).
const protocol = 118

// refusal is the metric of table 100's last route, behind any other.
const refusal = 4096

// Plan is what a gateway's routing follows from.
type Plan struct {
	NIC     string       // name of the port's interface, as Find found it
	Address netip.Addr   // of the port
	Subnet  netip.Prefix // of the port
	Gateway netip.Addr   // the subnet's router

	Tunnel    string     // the tunnel's interface; empty: packets come out of it by the port's
	WireGuard bool       // the tunnel is WireGuard's, whose packets bear Mark
	Anchor    netip.Addr // an address for lo, which charon wants within its selectors where it does ESP itself; invalid: none
}

// rule is a policy rule, as far as ours have parts.
type rule struct {
	priority, table int
	source          netip.Prefix
	in              string
	mark            uint32
	not             bool
}

func (p Plan) rules() []rule {
	all := []rule{
		{priority: priorityTunnel, table: TableTunnel},
		{priority: priorityMark, table: TablePort, mark: Mark},
		{priority: prioritySource, table: TablePort, source: netip.PrefixFrom(p.Address, 32)},
		{priority: priorityPort, table: TablePort, in: p.NIC},
	}
	if p.WireGuard {
		// A peer's public address may lie within its own subnets.
		all[0].mark, all[0].not = Mark, true
	}
	if p.Tunnel != "" {
		all = append(all, rule{priority: priorityIn, table: TablePort, in: p.Tunnel})
	}
	return all
}

// ours tells whether a rule has the place of one of ours.
func (r rule) ours() bool {
	if r.table == TableTunnel {
		return r.priority == priorityTunnel
	}
	return r.table == TablePort && r.priority >= priorityMark && r.priority <= priorityIn
}

func (r rule) kernel() *netlink.Rule {
	k := netlink.NewRule()
	k.Family, k.Priority, k.Table = netlink.FAMILY_V4, r.priority, r.table
	k.IifName, k.Mark, k.Invert = r.in, r.mark, r.not
	if r.source.IsValid() {
		k.Src = network(r.source)
	}
	return k
}

// ruleOf reads a rule of the kernel's, and false if it has parts that ours don't
// have.
func ruleOf(k netlink.Rule) (rule, bool) {
	r := rule{priority: k.Priority, table: k.Table, in: k.IifName, mark: k.Mark, not: k.Invert}
	if k.Src != nil {
		r.source = prefixOf(k.Src)
	}
	whole := k.Mask == nil || *k.Mask == 0xffffffff || k.Mark == 0 && *k.Mask == 0
	plain := k.Dst == nil && k.OifName == "" && k.Tos == 0 && k.TunID == 0 && k.IPProto == 0 &&
		k.Sport == nil && k.Dport == nil && k.UIDRange == nil &&
		k.Goto <= 0 && k.Flow <= 0 && k.SuppressIfgroup < 0 && k.SuppressPrefixlen < 0
	return r, whole && plain
}

// route is an IPv4 route, as far as ours have parts.
type route struct {
	place
	kind   int // unicast or unreachable
	device int
	via    netip.Addr
	source netip.Addr
	scope  netlink.Scope
}

// place is what there is one route for.
type place struct {
	table       int
	destination netip.Prefix
	metric      int
}

var everywhere = netip.PrefixFrom(netip.IPv4Unspecified(), 0)

// routes of table 100, in the order in which the kernel takes them: a router is
// known by its network.
func (p Plan) routes(device int) []route {
	return []route{
		{place: place{TablePort, everywhere, refusal}, kind: unix.RTN_UNREACHABLE},
		{place: place{TablePort, p.Subnet.Masked(), 0}, kind: unix.RTN_UNICAST, device: device, source: p.Address, scope: netlink.SCOPE_LINK},
		{place: place{TablePort, everywhere, 0}, kind: unix.RTN_UNICAST, device: device, source: p.Address, via: p.Gateway},
	}
}

func (r route) kernel() *netlink.Route {
	k := &netlink.Route{
		Family: netlink.FAMILY_V4, Table: r.table, Dst: network(r.destination), Priority: r.metric,
		Type: r.kind, LinkIndex: r.device, Scope: r.scope, Protocol: protocol,
	}
	if r.via.IsValid() {
		k.Gw = r.via.AsSlice()
	}
	if r.source.IsValid() {
		k.Src = r.source.AsSlice()
	}
	return k
}

// routeOf reads a route of the kernel's, and tells whether it is one of ours.
func routeOf(k netlink.Route) (r route, ours bool) {
	r = route{place: place{k.Table, everywhere, k.Priority}, kind: k.Type, device: k.LinkIndex, scope: k.Scope}
	if k.Dst != nil {
		r.destination = prefixOf(k.Dst)
	}
	if r.kind == unix.RTN_UNREACHABLE {
		r.device = 0 // the kernel shows lo, or nothing
	}
	r.via, _ = netip.AddrFromSlice(k.Gw)
	r.source, _ = netip.AddrFromSlice(k.Src)
	r.via, r.source = r.via.Unmap(), r.source.Unmap()
	return r, k.Protocol == protocol
}

func network(p netip.Prefix) *net.IPNet {
	return &net.IPNet{IP: p.Addr().AsSlice(), Mask: net.CIDRMask(p.Bits(), 32)}
}

func prefixOf(n *net.IPNet) netip.Prefix {
	address, _ := netip.AddrFromSlice(n.IP)
	bits, _ := n.Mask.Size()
	return netip.PrefixFrom(address.Unmap(), bits)
}
