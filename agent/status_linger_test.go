package agent

import (
	"encoding/json"
	"net/netip"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/vpnctl/vpnctl/agent/vici"
	"github.com/vpnctl/vpnctl/agent/vici/fakecharon"
	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/render/swanctl"
)

func TestLingering(t *testing.T) {
	p := netip.MustParsePrefix
	e := vpn.Expectation{Peers: []vpn.ExpectedPeer{
		{Name: "a", Sources: []netip.Prefix{p("10.1.0.0/24"), p("10.2.0.0/24")}},
		{Name: "b", Sources: []netip.Prefix{p("10.3.0.0/24")}},
	}}
	for sentence, c := range map[string]struct {
		connection, state string
		carried           []netip.Prefix
		want              []netip.Prefix
	}{
		"its own":                       {"a", "INSTALLED", []netip.Prefix{p("10.1.0.0/24"), p("10.2.0.0/24")}, nil},
		"another's":                     {"b", "INSTALLED", []netip.Prefix{p("10.2.0.0/24")}, []netip.Prefix{p("10.2.0.0/24")}},
		"another's, on its way out":     {"b", "DELETING", []netip.Prefix{p("10.2.0.0/24")}, []netip.Prefix{p("10.2.0.0/24")}},
		"all of them, of a removed one": {"c", "INSTALLED", []netip.Prefix{p("10.0.0.0/8")}, []netip.Prefix{p("10.1.0.0/24"), p("10.2.0.0/24"), p("10.3.0.0/24")}},
		"a part of another's":           {"b", "INSTALLED", []netip.Prefix{p("10.1.0.128/25")}, []netip.Prefix{p("10.1.0.0/24")}},
		"what is nobody's":              {"b", "INSTALLED", []netip.Prefix{p("10.9.0.0/24")}, nil},
	} {
		got := lingering(e, []vici.SA{{Connection: c.connection, Children: []vici.ChildSA{{State: c.state, RemoteTS: c.carried}}}})
		if diff := cmp.Diff(c.want, got, cmpopts.EquateComparable(netip.Prefix{})); diff != "" {
			t.Errorf("%s (-want +got)\n%s", sentence, diff)
		}
	}
}

// A network goes to another peer while the first one is silent: the child SA that has it
// is told to end, and status.json says so until it is gone.
func TestNetworkMovesAwayFromASilentPeer(t *testing.T) {
	r := newRig(t)
	r.peer("ina", "olga")
	network := r.config.Connections[0].Children[1].Remote[0]
	owned := func() {
		for i, c := range r.config.Connections {
			r.expect.Peers[i].Sources = nil
			for _, child := range c.Children {
				r.expect.Peers[i].Sources = append(r.expect.Peers[i].Sources, child.Remote...)
			}
		}
		r.swap()
	}
	owned()
	r.settled()
	if got := r.lingers(); len(got) != 0 {
		t.Fatalf("at first: %v", got)
	}
	r.charon.Behave("ina", fakecharon.Peer{Silent: true})
	r.edit("ina", func(c *swanctl.Connection) { c.Children = c.Children[:1] })
	r.edit("olga", func(c *swanctl.Connection) {
		child := c.Children[1]
		child.Name, child.Remote = swanctl.ChildName("olga", network), []netip.Prefix{network}
		c.Children = append(c.Children, child)
	})
	owned()
	r.ticks(6)
	if got := r.lingers(); !slices.Equal(got, []netip.Prefix{network}) {
		t.Errorf("while the silent peer's child is there: %v", got)
	}
	r.charon.Lose("ina")
	r.charon.Behave("ina", fakecharon.Peer{})
	r.ticks(2)
	if got := r.lingers(); len(got) != 0 {
		t.Errorf("once it is gone: %v", got)
	}
}

// lingers is what status.json says.
func (r *rig) lingers() []netip.Prefix {
	r.Helper()
	data, _, err := r.loop.Volume.ReadStatus()
	r.must(err)
	var s Status
	r.must(json.Unmarshal(data, &s))
	return s.Lingering
}
