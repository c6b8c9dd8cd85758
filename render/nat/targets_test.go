package nat

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/vpnctl/vpnctl/plan/vpn"
)

// What is read back is what was written, but for the names of hosts.
func TestTargets(t *testing.T) {
	in := plant()
	in.Gateway.Exposures = append(in.Gateway.Exposures,
		vpn.Exposure{Name: "any-host", Target: vpn.Target{Host: "any.example.org"}},
		vpn.Exposure{Name: "hosts", Target: vpn.Target{Host: "h.example.org", Protocol: "udp", Ports: []vpn.PortRange{{From: 53, To: 53}, {From: 8000, To: 8010}}}})
	in.Ledger.VirtualIPs["any-host"], in.Ledger.VirtualIPs["hosts"] = 20, 21
	want := map[string]vpn.Target{}
	for _, list := range [][]vpn.Exposure{in.Gateway.Exposures, in.Gateway.ReverseExposures} {
		for _, x := range list {
			x.Target.Host = ""
			want[x.Name] = x.Target
		}
	}
	table, err := Of(in)
	if err != nil {
		t.Fatal(err)
	}
	text, err := table.Text()
	if err != nil {
		t.Fatal(err)
	}
	read, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, read.Targets(), cmpopts.EquateComparable(want["all"].Address)); diff != "" {
		t.Errorf("targets (-want +got):\n%s", diff)
	}
}
