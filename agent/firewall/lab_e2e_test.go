//go:build e2e

package firewall

import (
	"net/netip"
	"os"
	"testing"

	"github.com/vpnctl/vpnctl/agent/lab/netns"
	"github.com/vpnctl/vpnctl/plan/alloc"
	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/render/nat"
)

// These tests want root and nft. Packets really flow, through a netns.Row.

func TestMain(m *testing.M) { os.Exit(netns.Main(m)) }

type lab struct {
	t *testing.T
	netns.Row
}

func newLab(t *testing.T) *lab {
	t.Helper()
	return &lab{t, netns.NewRow(t)}
}

// in runs a function in the gateway's network.
func (l *lab) in(f func() error) {
	l.t.Helper()
	if err := l.Gateway.Do(f); err != nil {
		l.t.Fatal(err)
	}
}

// apply puts a ruleset in force and cuts what it doesn't grant.
func (l *lab) apply(table *Table, in nat.Input, hosts ...Host) (changed bool, cut int) {
	l.t.Helper()
	rules, text := ruleset(l.t, in)
	l.in(func() (err error) {
		if changed, err = table.Apply(l.t.Context(), text, hosts); err != nil {
			return err
		}
		cut, err = CutFlows(rules, hosts)
		return err
	})
	return changed, cut
}

// gateway is one of two peers, three exposures and a reverse exposure.
func gateway() nat.Input {
	address := netip.MustParseAddr
	port := []vpn.PortRange{{From: 8080, To: 8080}}
	return nat.Input{
		Address:  "10.254.0.18",
		Internal: []netip.Prefix{netip.MustParsePrefix("10.254.0.0/24")},
		Ledger: alloc.Ledger{ServiceCIDR: netip.MustParsePrefix("100.64.7.0/24"), VirtualIPs: map[string]byte{
			"web": 10, "any": 11, "erp": 12, "scada": 200,
		}},
		Gateway: vpn.Gateway{
			Owner:     vpn.Owner{Kind: vpn.KindVPNGateway, Namespace: "acme", Name: "dc1"},
			Protocol:  vpn.WireGuard,
			WireGuard: &vpn.Interface{ListenPort: 51820},
			Exposures: []vpn.Exposure{
				{Name: "web", Target: vpn.Target{Address: address("10.20.0.5"), Protocol: "tcp", Ports: port}},
				{Name: "any", Target: vpn.Target{Address: address("10.20.0.9")}},
				{Name: "erp", Target: vpn.Target{Host: "erp.example.org", Protocol: "tcp", Ports: port}},
			},
			ReverseExposures: []vpn.Exposure{{Name: "scada", Target: vpn.Target{Address: address("192.168.10.9"), Protocol: "tcp", Ports: []vpn.PortRange{{From: 502, To: 502}}}}},
			Peers: []vpn.Peer{
				{Name: "berlin", Subnets: []netip.Prefix{netip.MustParsePrefix("192.168.10.0/24")},
					Grants: &vpn.Grants{Exposures: []string{"web", "any", "erp"}, ReverseExposures: []string{"scada"}}},
				{Name: "oslo", Subnets: []netip.Prefix{netip.MustParsePrefix("192.168.40.0/24")},
					Grants: &vpn.Grants{Exposures: []string{"web", "any"}}},
			},
		},
	}
}

func ruleset(t testing.TB, in nat.Input) (nat.Table, string) {
	t.Helper()
	table, err := nat.Of(in)
	if err != nil {
		t.Fatal(err)
	}
	text, err := table.Text()
	if err != nil {
		t.Fatal(err)
	}
	return table, text
}
