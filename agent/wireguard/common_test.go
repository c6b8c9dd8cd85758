package wireguard

import (
	"net/netip"

	"github.com/google/go-cmp/cmp/cmpopts"
)

// byText compares the values of netip.
var byText = cmpopts.EquateComparable(netip.Addr{}, netip.AddrPort{}, netip.Prefix{})

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
