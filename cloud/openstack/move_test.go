package openstack

import (
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/cloud/simulator"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// A move of the service CIDR is known from the ledger from its first write to its
// last, and nothing of the old range is left, wherever it was cut off and whatever
// other hands have that looks like it.
func TestAMoveIsOnTheLedgerUntilItIsDone(t *testing.T) {
	for cut := 1; ; cut++ {
		l, h, w := built(t)
		o := l.look(keep, w)
		port, hop := o.Graph[idOf(resource.KindPort, w.owner)].Ref, o.Facts.Gateway(w.owner.String()).PortAddress.String()
		h.put("port", portsPath+"/"+port, map[string]any{"allowed_address_pairs": []pair{{Address: "100.64.3.0/24"}, {Address: "192.168.10.0/24"}, {Address: "100.64.77.0/24"}}})
		h.route(o, "add_extraroutes", "192.168.10.0/24", hop)
		moved := gatewayWish("dc1", "10.77.0.0/24", l.node("worker-1"))
		moved.hash = "state-2"

		d, writes := l.connect("operator"), 0
		l.Reset()
		l.fault = func(_ int, r *http.Request) simulator.Fault {
			if r.Method != http.MethodGet {
				writes++
			}
			if writes == cut {
				return simulator.Fault{Do: simulator.Stop}
			}
			return simulator.Fault{}
		}
		_, err := runWith(t.Context(), d, keep, moved)
		l.heal()
		if err == nil {
			if cut < 5 {
				t.Errorf("a move took %d writes, the test means more", cut-1)
			}
			return
		}
		o = l.look(keep, moved)
		if got := o.Ledgers[0]; !slices.Equal(got.MovingFrom, []netip.Prefix{cidr("100.64.3.0/24")}) && (got.Applied != "state-2" || len(got.MovingFrom) > 0) {
			t.Errorf("cut off after write %d the ledger moves from %v and says %q was applied", cut, got.MovingFrom, got.Applied)
		}
		l.settle(keep, moved)
		o = l.look(keep, moved)
		if got := o.Ledgers[0]; len(got.MovingFrom) > 0 || got.Applied != "state-2" {
			t.Errorf("cut off after write %d and settled it still moves from %v", cut, got.MovingFrom)
		}
		if diff := cmp.Diff([]string{"10.77.0.0/24", "100.64.77.0/24", "192.168.10.0/24"}, l.pairs(port)); diff != "" {
			t.Errorf("cut off after write %d, pairs of the port (-want +got):\n%s", cut, diff)
		}
		if diff := cmp.Diff([]string{"10.77.0.0/24 " + hop, "192.168.10.0/24 " + hop}, l.routes()); diff != "" {
			t.Errorf("cut off after write %d, routes (-want +got):\n%s", cut, diff)
		}
	}
}

// A move that turns back leaves nothing of where it went, although the state that
// it turns back to was reached before.
func TestAMoveThatTurnsBack(t *testing.T) {
	l, _, w := built(t)
	before := l.snapshot()
	moved := gatewayWish("dc1", "100.64.9.0/24", l.node("worker-1"))
	moved.hash = "state-2"
	l.fault = func(_ int, r *http.Request) simulator.Fault {
		if strings.HasSuffix(r.URL.Path, "/add_extraroutes") {
			return simulator.Fault{Do: simulator.Stop} // all but the record is done
		}
		return simulator.Fault{}
	}
	if _, err := runWith(t.Context(), l.connect("operator"), keep, moved); err == nil {
		t.Fatal("the move was not cut off")
	}
	l.heal()
	l.settle(keep, w)
	if diff := cmp.Diff(before, l.snapshot()); diff != "" {
		t.Errorf("(-before +after):\n%s", diff)
	}
}

// A range that an older gateway still moves from is lost to a younger one that
// claims it.
func TestRecheckCountsWhatIsMovedFrom(t *testing.T) {
	l, h, w := built(t)
	h.moves(l.look(keep, w), "100.64.9.0/24")
	younger := gatewayWish("dc2", "100.64.9.0/24", l.node("worker-1"))
	d := l.connect("operator")
	o, err := d.Observe(t.Context(), estate(w, younger), keep)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Apply(t.Context(), change(o, younger, resource.KindSecurityGroup, "create")); err != nil {
		t.Fatal(err)
	}
	lost, err := d.Recheck(t.Context(), []vpn.Owner{younger.owner})
	if err != nil || !strings.Contains(lost[younger.owner], "claimed before") {
		t.Errorf("lost %v, error %v", lost, err)
	}
}

// pairs are the allowed address pairs of a port, sorted.
func (l *lab) pairs(id string) (all []string) {
	l.t.Helper()
	for _, p := range l.of("port") {
		if p.ID != id {
			continue
		}
		for _, x := range p.Attributes["allowed_address_pairs"].([]any) {
			all = append(all, x.(map[string]any)["ip_address"].(string))
		}
	}
	slices.Sort(all)
	return all
}

// routes are those of all routers, sorted.
func (l *lab) routes() (all []string) {
	l.t.Helper()
	for _, r := range l.of("router") {
		for _, x := range r.Attributes["routes"].([]any) {
			route := x.(map[string]any)
			all = append(all, fmt.Sprint(route["destination"], " ", route["nexthop"]))
		}
	}
	slices.Sort(all)
	return all
}
