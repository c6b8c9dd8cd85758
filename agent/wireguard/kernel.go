package wireguard

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/vishvananda/netlink"
)

// errUnsupported says that the kernel has no WireGuard.
var errUnsupported = errors.New("the kernel has no WireGuard")

// openLink makes sure of the kernel's device: a link of its kind, with its MTU, up.
// Asking for one loads the module where there is one.
func openLink(name string) error {
	link, err := netlink.LinkByName(name)
	if errors.As(err, new(netlink.LinkNotFoundError)) {
		link = &netlink.Wireguard{LinkAttrs: netlink.LinkAttrs{Name: name, MTU: MTU}}
		err = netlink.LinkAdd(link)
	}
	switch {
	case errors.Is(err, syscall.EOPNOTSUPP):
		return errUnsupported
	case err != nil:
		return fmt.Errorf("creating %s: %w", name, err)
	case link.Type() != "wireguard":
		return fmt.Errorf("opening %s: there is a link of that name, and it is a %s", name, link.Type())
	}
	return raise(link)
}

// raise gives a link its MTU and sets it up; one that has both notices nothing.
func raise(link netlink.Link) error {
	name := link.Attrs().Name
	if link.Attrs().MTU != MTU {
		if err := netlink.LinkSetMTU(link, MTU); err != nil {
			return fmt.Errorf("setting the MTU of %s: %w", name, err)
		}
	}
	if err := netlink.LinkSetUp(link); err != nil {
		return fmt.Errorf("setting %s up: %w", name, err)
	}
	return nil
}
