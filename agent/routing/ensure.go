package routing

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// Find returns the name of the interface that has a MAC address, and false if none
// does: the names differ from node to node, and the interface may come late.
func Find(mac string) (name string, found bool, err error) {
	address, err := net.ParseMAC(mac)
	if err != nil {
		return "", false, fmt.Errorf("finding the port's interface: %w", err)
	}
	links, err := steady(netlink.LinkList)
	if err != nil {
		return "", false, fmt.Errorf("finding the port's interface: %w", err)
	}
	index := 0
	for _, l := range links {
		a := l.Attrs()
		// An interface upon another one may share its address, and comes after it.
		if slices.Equal(a.HardwareAddr, address) && (!found || a.Index < index) {
			name, index, found = a.Name, a.Index, true
		}
	}
	return name, found, nil
}

// Ensure makes the port's interface, table 100 and the rules as the plan has them.
// What fails doesn't keep the rest from being tried.
func Ensure(p Plan) error {
	if !p.Address.Is4() || !p.Subnet.Addr().Is4() || !p.Gateway.Is4() {
		return fmt.Errorf("the port's address %s, subnet %s or router %s is not IPv4", p.Address, p.Subnet, p.Gateway)
	}
	nic, err := netlink.LinkByName(p.NIC)
	if err != nil {
		return fmt.Errorf("interface %s: %w", p.NIC, err)
	}
	return errors.Join(
		up(nic),
		ensureAddress(nic, p.Address),
		ensureRoutes(TablePort, p.routes(nic.Attrs().Index)),
		ensureRules(p.rules()),
		ensureAnchor(p.Anchor),
	)
}

// EnsureTunnel leads the peers' addresses into the tunnel's interface, by table 220.
// It is for WireGuard: charon writes its own routes there.
func EnsureTunnel(device string, peers []netip.Prefix) error {
	link, err := netlink.LinkByName(device)
	if err != nil {
		return fmt.Errorf("tunnel interface %s: %w", device, err)
	}
	var routes []route
	for _, p := range peers {
		routes = append(routes, route{
			place: place{TableTunnel, p.Masked(), 0}, kind: unix.RTN_UNICAST, device: link.Attrs().Index, scope: netlink.SCOPE_LINK,
		})
	}
	return ensureRoutes(TableTunnel, routes)
}

func up(link netlink.Link) error {
	if link.Attrs().Flags&net.FlagUp != 0 {
		return nil
	}
	if err := netlink.LinkSetUp(link); err != nil {
		return fmt.Errorf("bringing up %s: %w", link.Attrs().Name, err)
	}
	return nil
}

// ensureAddress gives the port's address back to its interface, without a network:
// that stands in table 100, where it takes nothing from the pod's main one.
func ensureAddress(link netlink.Link, address netip.Addr) error {
	name := link.Attrs().Name
	all, err := steady(func() ([]netlink.Addr, error) { return netlink.AddrList(link, netlink.FAMILY_V4) })
	if err != nil {
		return fmt.Errorf("reading the addresses of %s: %w", name, err)
	}
	if slices.ContainsFunc(all, func(a netlink.Addr) bool { return a.IP.Equal(address.AsSlice()) }) {
		return nil
	}
	if err := netlink.AddrAdd(link, &netlink.Addr{IPNet: network(netip.PrefixFrom(address, 32))}); err != nil && !errors.Is(err, unix.EEXIST) {
		return fmt.Errorf("adding %s to %s: %w", address, name, err)
	}
	return nil
}

// anchorLabel tells our address on lo from others.
const anchorLabel = "lo:vpnctl"

func ensureAnchor(anchor netip.Addr) error {
	lo, err := netlink.LinkByName("lo")
	if err != nil {
		return fmt.Errorf("interface lo: %w", err)
	}
	all, err := steady(func() ([]netlink.Addr, error) { return netlink.AddrList(lo, netlink.FAMILY_V4) })
	if err != nil {
		return fmt.Errorf("reading the addresses of lo: %w", err)
	}
	there, failed := false, []error(nil)
	for _, a := range all {
		if anchor.IsValid() && a.IP.Equal(anchor.AsSlice()) {
			there = true
		} else if a.Label == anchorLabel {
			if err := netlink.AddrDel(lo, &a); err != nil && !errors.Is(err, unix.EADDRNOTAVAIL) {
				failed = append(failed, fmt.Errorf("removing %s from lo: %w", a.IP, err))
			}
		}
	}
	if anchor.IsValid() && !there {
		a := &netlink.Addr{IPNet: network(netip.PrefixFrom(anchor, 32)), Label: anchorLabel}
		if err := netlink.AddrAdd(lo, a); err != nil && !errors.Is(err, unix.EEXIST) {
			failed = append(failed, fmt.Errorf("adding %s to lo: %w", anchor, err))
		}
	}
	return errors.Join(failed...)
}

// ensureRoutes puts routes in their places in a table and removes ours from others.
func ensureRoutes(table int, wanted []route) error {
	all, err := steady(func() ([]netlink.Route, error) {
		return netlink.RouteListFiltered(netlink.FAMILY_V4, &netlink.Route{Table: table}, netlink.RT_FILTER_TABLE)
	})
	if err != nil {
		return fmt.Errorf("reading routing table %d: %w", table, err)
	}
	there, stale := map[route]bool{}, map[place]netlink.Route{}
	for _, k := range all {
		r, ours := routeOf(k)
		there[r] = there[r] || ours
		if ours {
			stale[r.place] = k
		}
	}
	var failed []error
	for _, r := range wanted {
		delete(stale, r.place)
		if there[r] {
			continue
		}
		if err := netlink.RouteReplace(r.kernel()); err != nil {
			failed = append(failed, fmt.Errorf("adding the route to %s in table %d: %w", r.destination, table, err))
		}
	}
	for _, k := range stale {
		if err := netlink.RouteDel(&k); err != nil && !errors.Is(err, unix.ESRCH) {
			failed = append(failed, fmt.Errorf("removing the route to %s in table %d: %w", k.Dst, table, err))
		}
	}
	return errors.Join(failed...)
}

// ensureRules adds what is missing and then removes what is stale. The kernel may
// take a rule that says more for the one that is to go, which a second look repairs.
func ensureRules(wanted []rule) error {
	for range 3 {
		removed, err := changeRules(wanted)
		if err != nil || removed == 0 {
			return err
		}
	}
	return errors.New("routing rules of another hand come back as they are removed")
}

func changeRules(wanted []rule) (removed int, err error) {
	all, err := steady(func() ([]netlink.Rule, error) { return netlink.RuleList(netlink.FAMILY_V4) })
	if err != nil {
		return 0, fmt.Errorf("reading the routing rules: %w", err)
	}
	there, stale := map[rule]bool{}, []rule(nil)
	for _, k := range all {
		r, plain := ruleOf(k)
		if !plain || !r.ours() {
			continue
		}
		if there[r] || !slices.Contains(wanted, r) {
			stale = append(stale, r)
		}
		there[r] = true
	}
	var failed []error
	for _, r := range wanted {
		if there[r] {
			continue
		}
		if err := netlink.RuleAdd(r.kernel()); err != nil && !errors.Is(err, unix.EEXIST) {
			failed = append(failed, fmt.Errorf("adding routing rule %d: %w", r.priority, err))
		}
	}
	for _, r := range stale {
		if err := netlink.RuleDel(r.kernel()); err != nil && !errors.Is(err, unix.ENOENT) {
			failed = append(failed, fmt.Errorf("removing routing rule %d: %w", r.priority, err))
		}
	}
	return len(stale), errors.Join(failed...)
}

// steady repeats a listing that a change has disturbed: half of it would say that
// things are missing.
func steady[T any](list func() ([]T, error)) (all []T, err error) {
	for range 5 {
		if all, err = list(); !errors.Is(err, netlink.ErrDumpInterrupted) {
			break
		}
	}
	return all, err
}
