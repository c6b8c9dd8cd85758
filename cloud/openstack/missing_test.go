package openstack

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/cloud/simulator"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/state"
)

// TestStrippedTagsAreSeenBeforeAnythingIsPlanned takes tags from what a gateway
// uses: observing it names the object, what it is in use by, and the tags to set.
func TestStrippedTagsAreSeenBeforeAnythingIsPlanned(t *testing.T) {
	group, port, float := resource.KindSecurityGroup, resource.KindPort, resource.KindFloatingIP
	paths := map[resource.Kind]string{group: groupsPath, port: portsPath, float: floatsPath}
	torn := func(h hand, o *cloud.Observation, k resource.Kind) {
		h.retag(paths[k], o.Graph[idOf(k, owner("dc1"))].Ref, state.ManagedTag, "team=red")
	}
	strip := func(kinds ...resource.Kind) func(h hand, o *cloud.Observation) {
		return func(h hand, o *cloud.Observation) {
			for _, k := range kinds {
				h.retag(paths[k], o.Graph[idOf(k, owner("dc1"))].Ref)
			}
		}
	}
	for name, c := range map[string]struct {
		do   func(h hand, o *cloud.Observation)
		want []string // kind: what it is in use by
	}{
		"the port":                     {strip(port), []string{"port: lost its tags; it is in use: it is attached to server SERVER"}},
		"the floating IP":              {strip(float), []string{"floating-ip: lost its tags; it is in use: it leads to gateway acme/dc1"}},
		"the group":                    {strip(group), []string{"security-group: lost its tags, and with them the ledger; it is in use: port PORT is in it; still there: floating IP FLOAT, port PORT"}},
		"the port and the floating IP": {strip(port, float), []string{"floating-ip: lost its tags; it is in use: it leads to port PORT, which has the description of acme/dc1, but lost its tags", "port: lost its tags; it is in use: it is attached to server SERVER"}},
		"everything":                   {strip(group, port, float), []string{"security-group: lost its tags; it is in use: it has rules"}},
		"the port's owner alone":       {func(h hand, o *cloud.Observation) { torn(h, o, port) }, []string{"port: its tags say no more whose it is; it is in use: it is attached to server SERVER"}},
		"the floating IP's owner":      {func(h hand, o *cloud.Observation) { torn(h, o, float) }, []string{"floating-ip: its tags say no more whose it is; it is in use: it leads to gateway acme/dc1"}},
	} {
		t.Run(name, func(t *testing.T) {
			l, h, w := built(t)
			o := l.look(keep, w)
			ref := func(k resource.Kind) string { return o.Graph[idOf(k, w.owner)].Ref }
			c.do(h, o)
			after := l.look(keep, w)
			anonymous := strings.NewReplacer(ref(port), "PORT", w.server, "SERVER", o.Graph[idOf(float, w.owner)].FloatingIP.Address, "FLOAT")
			var got []string
			for _, p := range after.Problems {
				if !strings.Contains(p.Message, ref(p.ID.Kind)) {
					t.Errorf("%q does not name %s %s", p.Message, p.ID.Kind, ref(p.ID.Kind))
				}
				for _, tag := range state.Tags("prod", w.owner) {
					if !strings.Contains(p.Hint, tag) {
						t.Errorf("hint %q does not name the tag %s", p.Hint, tag)
					}
				}
				for _, lost := range []string{"lost its tags", "its tags say"} {
					if i := strings.Index(p.Message, lost); i >= 0 {
						got = append(got, p.ID.Kind.Short()+": "+anonymous.Replace(p.Message[i:]))
						break
					}
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("refused (-want +got):\n%s", diff)
			}
		})
	}
}

// TestAnObjectIsGoneOrNotThereYet has nothing of a gateway's that lost its tags:
// nothing is refused, and what a create will complete is not named.
func TestAnObjectIsGoneOrNotThereYet(t *testing.T) {
	l, h, w := built(t)
	o := l.look(keep, w)
	float := o.Graph[idOf(resource.KindFloatingIP, w.owner)].Ref
	h.put("floatingip", floatsPath+"/"+float, map[string]any{"port_id": nil})
	h.retag(floatsPath, float)
	for _, wishes := range [][]wish{{w}, {w, gatewayWish("dc2", "100.64.4.0/24", w.server)}} {
		o = l.look(keep, wishes...)
		if _, there := o.Graph[idOf(resource.KindFloatingIP, w.owner)]; there || len(o.Problems) > 0 {
			t.Errorf("problems %v, graph %v", o.Problems, o.Graph.IDs())
		}
	}
}

// TestLookingForWhatIsMissingCostsACallAKind counts the calls of observing when
// objects of some, of many and of all gateways are missing.
func TestLookingForWhatIsMissingCostsACallAKind(t *testing.T) {
	const gateways = 150 // their descriptions don't fit one query
	l := newLab(t, simulator.Options{Seed: simulator.Seed{SubnetCIDR: "10.240.0.0/16", FloatingIPCIDR: "203.0.0.0/16"}, RouteLimit: 1000,
		Quota: map[string]int{"port": 1000, "security_group": 1000, "security_group_rule": 10000, "floatingip": 1000}})
	var wishes []wish
	for i := range gateways {
		wishes = append(wishes, gatewayWish(fmt.Sprintf("dc%03d", i), fmt.Sprintf("100.64.%d.0/24", i), l.node("worker-1")))
	}
	d := l.connect("operator")
	if _, err := runWith(t.Context(), d, keep, wishes...); err != nil {
		t.Fatal(err)
	}
	observe := func() (int, *cloud.Observation) {
		before := d.Calls()
		o, err := d.Observe(t.Context(), estate(wishes...), keep)
		if err != nil {
			t.Fatal(err)
		}
		return d.Calls() - before, o
	}
	whole, o := observe()
	h := l.hand()
	stripped := 0
	for _, step := range []struct{ until, kinds int }{{1, 1}, {gateways, 1}} {
		for ; stripped < step.until; stripped++ {
			h.retag(floatsPath, o.Graph[idOf(resource.KindFloatingIP, wishes[stripped].owner)].Ref)
		}
		calls, after := observe()
		if calls != whole+step.kinds {
			t.Errorf("%d floating IPs stripped: %d calls, want one more than %d", stripped, calls, whole)
		}
		if len(after.Problems) != stripped {
			t.Errorf("%d floating IPs stripped, %d refused", stripped, len(after.Problems))
		}
	}
	if whole > 6 {
		t.Errorf("an estate that is whole costs %d calls, want 6", whole)
	}
	long := slices.ContainsFunc(wishes, func(w wish) bool { return len(state.Description("prod", w.owner))*gateways > longURL })
	if !long {
		t.Error("the descriptions fit one query: the other way was not tried")
	}
}
