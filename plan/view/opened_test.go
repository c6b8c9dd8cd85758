package view

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/resource"
)

// TestWhatOpensToEveryone is told without -v, and so is a private key that is made.
func TestWhatOpensToEveryone(t *testing.T) {
	open := resource.Rule{Direction: "ingress", Ether: "IPv4", Protocol: "udp", From: 51820, To: 51820, Why: "peer ina, a road warrior"}
	narrow := resource.Rule{Direction: "ingress", Ether: "IPv4", Protocol: "udp", From: 51820, To: 51820, Remote: netip.MustParsePrefix("198.51.100.7/32")}
	out := resource.Rule{Direction: "egress", Ether: "IPv4"}
	const opens, key = "opens to any address: udp 51820 (peer ina, a road warrior)", "makes a private key: Secret remote-wg-key, in the cluster and nowhere else"
	group := func(rules ...resource.Rule) *resource.Resource {
		return &resource.Resource{SecurityGroup: &resource.SecurityGroup{Rules: rules}}
	}
	secretID, secret := object(dc1, "Secret", "remote-wg-key")
	groupID := resource.ID{Kind: resource.KindSecurityGroup, Namespace: dc1.Namespace, Name: dc1.Name}
	for name, c := range map[string]struct {
		change plan.Change
		want   string
	}{
		"a new group with a rule for everyone": {plan.Change{ID: groupID, Action: plan.Create, After: group(out, open)}, opens},
		"a rule for everyone is added":         {plan.Change{ID: groupID, Action: plan.Update, Before: group(out, narrow), After: group(out, open)}, opens},
		"it was there before":                  {plan.Change{ID: groupID, Action: plan.Update, Before: group(out, open), After: group(out, open, narrow)}, ""},
		"it is held":                           {plan.Change{ID: groupID, Action: plan.Create, After: group(open), Held: "waits"}, ""},
		"rules for peers alone":                {plan.Change{ID: groupID, Action: plan.Create, After: group(out, narrow)}, ""},
		"a private key":                        {plan.Change{ID: secretID, Action: plan.Create, After: secret}, key},
		"its Secret's labels":                  {plan.Change{ID: secretID, Action: plan.Update, Before: secret, After: secret}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			c.change.Owner = dc1
			p := plan.Plan{Version: plan.Version, Estate: "prod", Owners: []plan.Owner{{Owner: dc1}}, Changes: []plan.Change{c.change}}
			var b strings.Builder
			if err := Text(&b, p, Options{Width: 100}); err != nil {
				t.Fatal(err)
			}
			for _, text := range []string{"opens to any", "makes a private"} {
				if c.want == "" && strings.Contains(b.String(), text) || c.want != "" && !strings.Contains(b.String(), c.want) {
					t.Errorf("want %q:\n%s", c.want, b.String())
				}
			}
		})
	}
}
