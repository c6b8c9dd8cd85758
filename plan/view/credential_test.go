package view

import (
	"bytes"
	"strings"
	"testing"

	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// TestEveryLineOfALinkSaysWhoseCredential: of what comes, changes, is taken over or goes,
// the ledger and its record too, in all words that a plan has.
func TestEveryLineOfALinkSaysWhoseCredential(t *testing.T) {
	owner := vpn.Owner{Kind: vpn.KindClusterLink, Name: "south"}
	bodies := []resource.Resource{
		{SecurityGroup: &resource.SecurityGroup{Ledger: []resource.Entry{{Name: "link-cidr", Value: "10.60.0.0/16"}}}},
		{NetworkShare: &resource.NetworkShare{Network: "n", Project: "p"}},
		{TransitLeg: &resource.TransitLeg{Network: "n", Address: "10.0.0.9"}},
		{Route: &resource.Route{NextHop: "10.0.0.9"}},
		{Applied: &resource.Applied{Hash: "x"}},
	}
	for _, action := range []plan.Action{plan.Create, plan.Update, plan.Adopt, plan.Delete} {
		for i, k := range []resource.Kind{resource.KindSecurityGroup, resource.KindNetworkShare, resource.KindTransitLeg, resource.KindRoute, resource.KindApplied} {
			c := plan.Change{ID: resource.ID{Kind: k, Name: "south"}, Owner: owner, Action: action, Reason: "why", Credential: "somebody's credential"}
			if action != plan.Create {
				c.Before = &bodies[i]
			}
			if action != plan.Delete {
				c.After = &bodies[i]
			}
			p := plan.Plan{Owners: []plan.Owner{{Owner: owner}}, Changes: []plan.Change{c}}
			for name, write := range map[string]func(*bytes.Buffer) error{
				"text":     func(b *bytes.Buffer) error { return Text(b, p, Options{}) },
				"markdown": func(b *bytes.Buffer) error { return Markdown(b, p, Options{}) },
			} {
				var b bytes.Buffer
				if err := write(&b); err != nil {
					t.Fatal(err)
				}
				if !strings.Contains(strings.Join(strings.Fields(b.String()), " "), "by somebody's credential") {
					t.Errorf("%s: %s %s does not say by whose credential:\n%s", name, action, k, b.String())
				}
			}
		}
	}
}
