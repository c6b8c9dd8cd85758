package openstack

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vpnctl/vpnctl/cloud/simulator"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/state"
)

// Of two runs that made the same claim the older group wins, and the other
// withdraws its own.
func TestRecheck(t *testing.T) {
	for name, w := range map[string]wish{
		"for one owner":        gatewayWish("dc1", "100.64.3.0/24", ""),
		"for one service CIDR": gatewayWish("dc2", "100.64.3.0/24", ""),
	} {
		t.Run(name, func(t *testing.T) {
			var seconds atomic.Int64 // each look at the clock is one later
			l := newLab(t, simulator.Options{Clock: func() time.Time { return time.Unix(1_800_000_000+seconds.Add(1), 0) }})
			first := gatewayWish("dc1", "100.64.3.0/24", "")
			a, b := l.connect("operator"), l.connect("operator")
			claim(t, a, first)
			claim(t, b, w)
			for d, want := range map[*Driver]int{a: 0, b: 1} {
				who := first.owner
				if d == b {
					who = w.owner
				}
				losers, err := d.Recheck(t.Context(), []vpn.Owner{who})
				if err != nil || len(losers) != want {
					t.Errorf("losers %v, error %v; want %d", losers, err, want)
				}
			}
			if groups := l.of("security-group").Only(func(o simulator.Object) bool { return o.Text("name") != "default" }); len(groups) != 1 {
				t.Errorf("%d groups are left, want the winner's", len(groups))
			}
		})
	}
}

// A gateway that stands keeps its range, though an older claim comes to light that
// nothing stands behind: the run that wrote it says so, and withdraws it.
func TestAClaimThatComesToLightLate(t *testing.T) {
	var seconds atomic.Int64
	l := newLab(t, simulator.Options{Clock: func() time.Time { return time.Unix(1_800_000_000+seconds.Add(1), 0) }})
	late, up := gatewayWish("dc1", "100.64.3.0/24", l.node("worker-1")), gatewayWish("dc2", "100.64.3.0/24", l.node("worker-1"))
	a := l.connect("operator")
	claim(t, a, late)
	own := l.look(keep, late).Ledgers[0].Ref
	l.hand().retag(groupsPath, own) // written, but not yet to be seen
	l.settle(keep, up)
	l.hand().retag(groupsPath, own, state.LedgerTags(late.ledger)...)

	losers, err := a.Recheck(t.Context(), []vpn.Owner{late.owner})
	if err != nil || !strings.Contains(losers[late.owner], "was claimed before, by VPNGateway/acme/dc2") {
		t.Errorf("losers %v, error %v", losers, err)
	}
	if o := l.look(prune, up); len(o.Ledgers) != 1 || len(changes(o, []wish{up})) > 0 {
		t.Errorf("left are the ledgers %v, and %d changes", o.Ledgers, len(changes(o, []wish{up})))
	}
}

// claim makes a group as a run does that does not see the other's yet.
func claim(t *testing.T, d *Driver, w wish) {
	t.Helper()
	if _, err := d.Locate(t.Context(), estate(w)); err != nil {
		t.Fatal(err)
	}
	var body struct {
		Group group `json:"security_group"`
	}
	_, err := d.call(t.Context(), http.MethodPost, groupsPath, map[string]any{"security_group": map[string]any{
		"name": state.Name(w.owner), "description": state.Description("prod", w.owner)}}, &body)
	if err == nil {
		err = d.tag(t.Context(), groupsPath, body.Group.ID, state.LedgerTags(w.ledger))
	}
	if err != nil {
		t.Fatal(err)
	}
	v := verb{Driver: d}
	v.Owner = w.owner
	v.note(resource.KindSecurityGroup, body.Group.ID)
}
