package main

import (
	"testing"

	"github.com/vpnctl/vpnctl/plan"
)

// TestNextBesideAReconcile: nobody is sent to an apply that would refuse.
func TestNextBesideAReconcile(t *testing.T) {
	for sentence, tt := range map[string]struct {
		notices []plan.Notice
		want    string
	}{
		"nobody keeps the estate": {nil, "vpnctl apply gateways"},
		"a reconcile keeps it":    {[]plan.Notice{{Message: "estate prod is kept by vpnctl reconcile", Hint: keptElsewhere}}, ""},
	} {
		c := planCommand{Paths: []string{"gateways"}, selection: selection{Hold: plan.DefaultHold}}
		if got := c.next(&Globals{}, plan.Plan{Notices: tt.notices}); got != tt.want {
			t.Errorf("%s: %q, want %q", sentence, got, tt.want)
		}
	}
}
