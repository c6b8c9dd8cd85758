package vpn_test

import (
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/plan/vpn"
)

func TestRoaming(t *testing.T) {
	for sentence, c := range map[string]struct {
		peer vpn.Peer
		want bool
	}{
		"a road warrior, which nobody can dial":  {vpn.Peer{RoadWarrior: true}, true},
		"one with an endpoint stays where it is": {vpn.Peer{RoadWarrior: true, Endpoint: "192.0.2.1:51820"}, false},
		"a site that has to dial in is to stay":  {vpn.Peer{Subnets: []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16")}}, false},
	} {
		if got := c.peer.Roaming(); got != c.want {
			t.Errorf("%s: %v", sentence, got)
		}
	}
}

// Who reaches what, by the blocks that were written.
func TestAccess(t *testing.T) {
	site := func(name, subnet string, grants *vpn.Grants) vpn.Peer {
		return vpn.Peer{Name: name, Subnets: []netip.Prefix{netip.MustParsePrefix(subnet)}, Grants: grants}
	}
	web := &vpn.Grants{Exposures: []string{"web"}}
	all := vpn.Access{Exposures: []string{"erp", "web"}, ReverseExposures: []string{"scada"}, Default: true}
	for sentence, c := range map[string]struct {
		open  bool
		peers []vpn.Peer
		allow bool       // by default
		want  vpn.Access // of the first peer
	}{
		"the only peer without a block reaches all":               {false, []vpn.Peer{site("a", "10.1.0.0/16", nil)}, true, all},
		"but serves only what lies behind it":                     {false, []vpn.Peer{site("a", "10.2.0.0/16", nil)}, true, vpn.Access{Exposures: all.Exposures, Default: true}},
		"with a block it reaches what that names":                 {false, []vpn.Peer{site("a", "10.1.0.0/16", web)}, false, vpn.Access{Exposures: []string{"web"}}},
		"with an empty one nothing":                               {false, []vpn.Peer{site("a", "10.1.0.0/16", &vpn.Grants{})}, false, vpn.Access{}},
		"one of two without a block reaches nothing":              {false, []vpn.Peer{site("a", "10.1.0.0/16", nil), site("b", "10.2.0.0/16", web)}, false, vpn.Access{}},
		"every peer of an open gateway reaches all":               {true, []vpn.Peer{site("a", "10.1.0.0/16", nil), site("b", "10.2.0.0/16", nil)}, false, all},
		"its only one does so because it is open, not by default": {true, []vpn.Peer{site("a", "10.1.0.0/16", nil)}, false, all},
	} {
		t.Run(sentence, func(t *testing.T) {
			g := vpn.Gateway{
				Open: c.open, Peers: c.peers, Exposures: []vpn.Exposure{{Name: "erp"}, {Name: "web"}},
				ReverseExposures: []vpn.Exposure{{Name: "scada", Target: vpn.Target{Address: netip.MustParseAddr("10.1.0.9")}}},
			}
			if got := g.DefaultAllow(); got != c.allow {
				t.Errorf("by default: %v, want %v", got, c.allow)
			}
			if diff := cmp.Diff(c.want, g.Access(c.peers[0])); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}
