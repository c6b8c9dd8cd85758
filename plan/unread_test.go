package plan

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/plan/vpn"
)

// TestSurveyIsSaved: planning again from a saved plan must leave alone whom the
// saved plan left alone, and the plan holds no more of the survey than that.
func TestSurveyIsSaved(t *testing.T) {
	w := between(append(sites(3), two().with(func(s *site) { s.owner = "VPNGateway/acme/dc4" })),
		[]site{numbered(1), two().with(func(s *site) { s.owner = "VPNGateway/acme/dc4"; delete(s.peers, "plant2") })})
	prune(w)
	w.Survey = Survey{
		Unread:      map[vpn.Owner]string{numbered(2).name(): "gw/dc2.yaml", numbered(9).name(): "gw/dc9.yaml"},
		UnreadPeers: map[string]string{"acme/dc4/plant2": "gw/p.yaml", "acme/dc4/plant1": "gw/twice.yaml", "acme/dc9/x": "gw/x.yaml"},
	}
	saved := Make(w.Input)
	read, err := Decode(strings.NewReader(encoded(t, saved)))
	if err != nil {
		t.Fatal(err)
	}
	want := &Survey{
		Unread:      map[vpn.Owner]string{numbered(2).name(): "gw/dc2.yaml"},
		UnreadPeers: map[string]string{"acme/dc4/plant2": "gw/p.yaml"},
	}
	if diff := cmp.Diff(want, read.Survey); diff != "" {
		t.Errorf("survey (-want +got):\n%s", diff)
	}
	w.Survey = *read.Survey
	if moved := Compare(saved, Make(w.Input)); len(moved) > 0 {
		t.Errorf("planned again: %v", moved)
	}
	if len(saved.Changes) == 0 || saved.Changes[0].Owner != numbered(3).name() {
		t.Errorf("dc3 is not pruned: %v", outline(saved))
	}
}
