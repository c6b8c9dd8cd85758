package vpn

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestForbids(t *testing.T) {
	e := Expectation{
		PublicAddress: "203.0.113.20", ServiceCIDR: netip.MustParsePrefix("198.18.3.0/24"),
		Reserved: []netip.Prefix{netip.MustParsePrefix("100.64.0.0/16"), netip.MustParsePrefix("198.18.3.0/24")},
		Port:     ExpectedPort{Address: "10.254.0.17", Subnet: "10.254.0.0/24", Gateway: "10.254.0.1"},
		Peers:    []ExpectedPeer{{Name: "plant1", Sources: []netip.Prefix{netip.MustParsePrefix("192.168.10.0/24"), netip.MustParsePrefix("192.168.11.0/24")}}},
	}
	for address, want := range map[string]string{
		"10.20.0.5":       "",
		"10.254.0.18":     "",
		"192.168.12.1":    "",
		"8.8.8.8":         "",
		"100.65.0.1":      "",
		"100.64.200.200":  "where gateways answer",
		"198.18.3.1":      "the gateway's service CIDR",
		"198.18.3.200":    "the gateway's service CIDR",
		"203.0.113.20":    "the gateway's own",
		"10.254.0.17":     "the gateway's own",
		"10.244.1.17":     "the gateway's own",
		"192.168.11.40":   "192.168.11.0/24, a network of peer plant1",
		"127.0.0.53":      "no host",
		"0.0.0.0":         "no host",
		"0.1.2.3":         "no host",
		"169.254.169.254": "no host",
		"224.0.0.5":       "no host",
		"255.255.255.255": "no host",
	} {
		got := e.Forbids(netip.MustParseAddr(address), netip.MustParseAddr("10.244.1.17"))
		if (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", address, got, want)
		}
	}
}

func TestReserved(t *testing.T) {
	e := Estate{ServiceCIDRPool: netip.MustParsePrefix("100.64.0.0/16")}
	for own, want := range map[string][]netip.Prefix{
		"100.64.3.0/24": {e.ServiceCIDRPool},
		"198.18.3.0/24": {e.ServiceCIDRPool, netip.MustParsePrefix("198.18.3.0/24")},
	} {
		if diff := cmp.Diff(want, e.Reserved(netip.MustParsePrefix(own)), cmpopts.EquateComparable(netip.Prefix{})); diff != "" {
			t.Errorf("%s (-want +got)\n%s", own, diff)
		}
	}
	if got := (Estate{}).Reserved(netip.Prefix{}); len(got) != 0 {
		t.Errorf("of nothing: %v", got)
	}
}
