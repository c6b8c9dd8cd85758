package alloc

import (
	"encoding/json"
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/plan/vpn"
)

var sameAddresses = cmp.Options{
	cmp.Comparer(func(a, b netip.Addr) bool { return a == b }),
	cmp.Comparer(func(a, b netip.Prefix) bool { return a == b }),
}

func TestStatusAsALedger(t *testing.T) {
	o := vpn.Owner{Kind: vpn.KindVPNGateway, Namespace: "acme", Name: "dc1"}
	cidr := netip.MustParsePrefix("100.64.7.0/24")
	tests := map[string]struct {
		status  string
		want    Operated
		problem string
	}{
		"nothing was allocated": {status: `{}`},
		"all of it": {
			status: `{"serviceCIDR": "100.64.7.0/24", "floatingIP": "203.0.113.9", "portFixedIP": "10.254.0.9", "nodeName": "worker-1",
				"virtualIPs": [{"name": "web", "ip": "100.64.7.10"}, {"name": "plc", "ip": "100.64.7.254", "reverse": true}], "conditions": [{"type": "Ready"}]}`,
			want: Operated{ServiceCIDR: cidr, FloatingIP: netip.MustParseAddr("203.0.113.9"), PortAddress: netip.MustParseAddr("10.254.0.9"), Node: "worker-1",
				VirtualIPs: map[string]netip.Addr{"web": netip.MustParseAddr("100.64.7.10"), "plc": netip.MustParseAddr("100.64.7.254")}},
		},
		"a range that is no /24":                  {status: `{"serviceCIDR": "100.64.0.0/16"}`, problem: `status.serviceCIDR: "100.64.0.0/16" is no IPv4 /24`},
		"a range with host bits":                  {status: `{"serviceCIDR": "100.64.7.1/24"}`, problem: `status.serviceCIDR: "100.64.7.1/24" is no IPv4 /24`},
		"a range that is a word":                  {status: `{"serviceCIDR": "some"}`, problem: `status.serviceCIDR: "some" is no IPv4 /24`},
		"an address of IPv6":                      {status: `{"floatingIP": "2001:db8::1"}`, problem: `status.floatingIP: "2001:db8::1" is no IPv4 address`},
		"a virtual IP outside of the range":       {status: `{"serviceCIDR": "100.64.7.0/24", "virtualIPs": [{"name": "web", "ip": "100.64.8.10"}]}`, want: Operated{ServiceCIDR: cidr}, problem: `status.virtualIPs: "100.64.8.10" of web is no address that the service CIDR has for exposures`},
		"the gateway's own as a virtual IP":       {status: `{"serviceCIDR": "100.64.7.0/24", "virtualIPs": [{"name": "web", "ip": "100.64.7.1"}]}`, want: Operated{ServiceCIDR: cidr}, problem: `status.virtualIPs: "100.64.7.1" of web is no address that the service CIDR has for exposures`},
		"a virtual IP without a range":            {status: `{"virtualIPs": [{"name": "web", "ip": "100.64.7.10"}]}`, problem: `status.virtualIPs: "100.64.7.10" of web is no address that the service CIDR has for exposures`},
		"one address of two exposures":            {status: `{"serviceCIDR": "100.64.7.0/24", "virtualIPs": [{"name": "a", "ip": "100.64.7.10"}, {"name": "b", "ip": "100.64.7.10"}]}`, want: Operated{ServiceCIDR: cidr, VirtualIPs: map[string]netip.Addr{"a": netip.MustParseAddr("100.64.7.10")}}, problem: `status.virtualIPs: "100.64.7.10" is both a's and b's`},
		"an exposure that can't be recorded":      {status: `{"serviceCIDR": "100.64.7.0/24", "virtualIPs": [{"name": "a;b", "ip": "100.64.7.10"}]}`, want: Operated{ServiceCIDR: cidr}, problem: `status.virtualIPs: "a;b" is no name that can be recorded`},
		"the first problem is the one to be told": {status: `{"serviceCIDR": "x", "floatingIP": "y"}`, problem: `status.serviceCIDR: "x" is no IPv4 /24`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var s Status
			if err := json.Unmarshal([]byte(test.status), &s); err != nil {
				t.Fatal(err)
			}
			test.want.Owner, test.want.UID, test.want.Problem = o, "uid-1", test.problem
			if diff := cmp.Diff(test.want, s.Operated(o, "uid-1"), sameAddresses); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestAnOperatorsRangeStays: a claim to it that nothing stands behind gives way, even an
// older one, and no allocation of the status moves.
func TestAnOperatorsRangeStays(t *testing.T) {
	g := Operated{Owner: vpn.Owner{Kind: vpn.KindVPNGateway, Namespace: "acme", Name: "dc1"}, UID: "uid-1", ServiceCIDR: netip.MustParsePrefix("100.64.7.0/24"),
		VirtualIPs: map[string]netip.Addr{"web": netip.MustParseAddr("100.64.7.77")}}
	l := g.Ledger("prod", vpn.IPsec)
	l.Ref = "b"
	rival := Ledger{Estate: "prod", Owner: vpn.Owner{Kind: vpn.KindVPNGateway, Namespace: "acme", Name: "aaa"}, ServiceCIDR: g.ServiceCIDR, Ref: "a"}
	if !l.Ahead(rival, g.ServiceCIDR) || rival.Ahead(l, g.ServiceCIDR) || !l.Built() {
		t.Error("the rival is ahead")
	}
	e := vpn.Estate{Name: "prod", ServiceCIDRPool: netip.MustParsePrefix("100.64.0.0/16"), Gateways: []vpn.Gateway{
		{Owner: g.Owner, Protocol: vpn.IPsec, Exposures: []vpn.Exposure{{Name: "aaa"}, {Name: "web"}}},
		{Owner: rival.Owner, Protocol: vpn.IPsec},
	}}
	got, problems := Assign(Input{Estate: e, Ledgers: []Ledger{l, rival}})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	if now := got[g.Owner]; now.ServiceCIDR != g.ServiceCIDR || now.VirtualIP("web") != g.VirtualIPs["web"] || now.VirtualIP("aaa").As4()[3] != 10 {
		t.Errorf("%+v", now)
	}
	if got[rival.Owner].ServiceCIDR == g.ServiceCIDR {
		t.Error("two gateways have one range")
	}
}
