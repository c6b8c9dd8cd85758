package openstack

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/plan/alloc"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/state"
)

// A ledger that another hand damaged, or that is gone under a gateway's port: the
// gateway is refused by name, and nobody takes its range for free.
func TestLedgersThatAreNotKnown(t *testing.T) {
	edit := func(change func(tags []string) []string) func(hand, *cloud.Observation) {
		return func(h hand, o *cloud.Observation) {
			h.retag(groupsPath, o.Ledgers[0].Ref, change(state.LedgerTags(o.Ledgers[0]))...)
		}
	}
	without := func(part string) func(hand, *cloud.Observation) {
		return edit(func(tags []string) []string {
			return slices.DeleteFunc(tags, func(tag string) bool { return strings.HasPrefix(tag, state.Prefix+part) })
		})
	}
	instead := func(from, to string) func(hand, *cloud.Observation) {
		return edit(func(tags []string) []string {
			for i := range tags {
				tags[i] = strings.Replace(tags[i], from, to, 1)
			}
			return tags
		})
	}
	withoutGroup := func(h hand, o *cloud.Observation) {
		h.put("port", portsPath+"/"+o.Graph[idOf(resource.KindPort, owner("dc1"))].Ref, map[string]any{"security_groups": []string{}})
		h.do(http.MethodDelete, groupsPath+"/"+o.Ledgers[0].Ref, nil)
	}
	unmarked := func(h hand, o *cloud.Observation) {
		h.retag(groupsPath, o.Ledgers[0].Ref)
		h.put("security_group", groupsPath+"/"+o.Ledgers[0].Ref, map[string]any{"description": "tidied up"})
	}
	onlyAddress := func(h hand, o *cloud.Observation) {
		withoutGroup(h, o)
		id := o.Graph[idOf(resource.KindPort, owner("dc1"))].Ref
		h.put("floatingip", floatsPath+"/"+o.Graph[idOf(resource.KindFloatingIP, owner("dc1"))].Ref, map[string]any{"port_id": nil})
		h.route(o, "remove_extraroutes", "100.64.3.0/24", o.Graph[idOf(resource.KindRoute, owner("dc1"))].Route.NextHop)
		h.do(http.MethodDelete, portsPath+"/"+id, nil)
	}
	const unread, gone = "the ledger of VPNGateway/acme/dc1 can't be read", "VPNGateway/acme/dc1 has no security group with a ledger any more"
	for name, c := range map[string]struct {
		do               func(hand, *cloud.Observation)
		problem, unknown string
		claimed          bool // that the range is known to be taken
	}{
		"the service CIDR is lost":              {without("service-cidr="), "entry service-cidr is missing", unread, true},
		"virtual IPs are lost":                  {without("vips."), "the check does not fit", unread, true},
		"the check is lost":                     {without("check="), "entry check is missing", unread, true},
		"the service CIDR is none":              {instead("100.64.3.0/24", "100.64.3.0/33"), `service-cidr "100.64.3.0/33" is not an IPv4 /24`, unread, true},
		"the service CIDR is another":           {instead("100.64.3.0/24", "100.64.4.0/24"), "the check does not fit", unread, true},
		"octets are swapped":                    {instead("erp:200;web:10", "erp:10;web:200"), "the check does not fit", unread, true},
		"all that was allocated is lost":        {edit(func([]string) []string { return state.Tags("prod", owner("dc1")) }), "entry protocol is missing, read nothing", unread, true},
		"the owner is lost":                     {without("owner="), "ownership tags are incomplete", unread, true},
		"the estate is lost":                    {without("estate="), "ownership tags are incomplete", unread, true},
		"all tags are lost":                     {edit(func([]string) []string { return nil }), " lost its tags, and with them the ledger; it is in use: port ", gone, true},
		"the group is gone under a port":        {withoutGroup, "its security group, and with it the ledger, is gone; still there: floating IP ", gone, true},
		"the group is no more known as ours":    {unmarked, ", is gone, or lost its tags, name or description: its port is in group ", gone, true},
		"the group is gone under a floating IP": {onlyAddress, "still there: floating IP ", gone, false},
	} {
		t.Run(name, func(t *testing.T) {
			l, h, w := built(t)
			c.do(h, l.look(keep, w))
			o := l.look(keep, w)
			if !slices.ContainsFunc(o.Unknown, func(why string) bool { return strings.HasPrefix(why, c.unknown) }) {
				t.Errorf("unknown: %q, want %q", o.Unknown, c.unknown)
			}
			refused := ""
			for _, p := range o.Problems {
				if p.Owner == w.owner {
					refused += p.Message + "\n"
				}
			}
			if !strings.Contains(refused, c.problem) {
				t.Errorf("problems %q, want %q", refused, c.problem)
			}
			if len(o.Ledgers) > 0 {
				t.Errorf("a ledger nevertheless: %+v", o.Ledgers)
			}
			claimed := false
			for _, x := range o.Claims {
				claimed = claimed || x.Prefix == cidr("100.64.3.0/24")
			}
			if claimed != c.claimed {
				t.Errorf("claims %v", o.Claims)
			}
		})
	}
}

func TestARefusedGatewayIsToldItsRange(t *testing.T) {
	l, h, w := built(t)
	h.retag(groupsPath, l.look(keep, w).Ledgers[0].Ref)
	for _, p := range l.look(keep, w).Problems {
		if strings.HasSuffix(p.Hint, "anew with serviceCIDR 100.64.3.0/24, which its port allows") {
			return
		}
	}
	t.Error("no hint names the range")
}

// What is left of a gateway whose manifest and group are gone may go, and until
// then no range is chosen.
func TestWhatIsLeftWithoutAGroupMayGo(t *testing.T) {
	l, h, w := built(t)
	o := l.look(keep, w)
	h.put("port", portsPath+"/"+o.Graph[idOf(resource.KindPort, w.owner)].Ref, map[string]any{"security_groups": []string{}})
	h.do(http.MethodDelete, groupsPath+"/"+o.Ledgers[0].Ref, nil)
	if o = l.look(prune); len(o.Unknown) != 1 || len(o.Problems) != 0 {
		t.Errorf("unknown %q, problems %v", o.Unknown, o.Problems)
	}
	l.settle(prune)
	if o = l.look(prune); len(o.Graph)+len(o.Unknown) > 0 {
		t.Errorf("left over: %v, unknown %q", o.Graph.IDs(), o.Unknown)
	}
}

// Of what other estates have in the project, only a range that can't be read
// keeps others from being chosen.
func TestLedgersOfOtherEstatesThatAreNotKnown(t *testing.T) {
	link := vpn.Owner{Kind: vpn.KindClusterLink, Name: "north"}
	for name, c := range map[string]struct {
		tags []string
		want int
	}{
		"a ledger without a range":              {state.Tags("other", owner("dc1")), 1},
		"a ledger whose range can be read":      {append(state.Tags("other", owner("dc1")), state.Prefix+"service-cidr=100.64.9.0/24"), 0},
		"nobody knows whose, without a range":   {[]string{state.ManagedTag}, 1},
		"nobody knows whose, but its range":     {[]string{state.ManagedTag, state.Prefix + "service-cidr=100.64.9.0/24"}, 0},
		"a link has no range":                   {state.Tags("other", link), 0},
		"a link of a newer vpnctl has no range": {append(state.Tags("other", link), state.Prefix+"leg-port=p1"), 0},
		"a link of this estate has no range":    {state.LinkTags(alloc.LinkLedger{Estate: "prod", Owner: link, CIDR: netip.MustParsePrefix("10.40.0.0/16"), TransitIP: netip.MustParseAddr("10.254.0.9")}), 0},
	} {
		t.Run(name, func(t *testing.T) {
			l, h, w := built(t)
			id := h.post("security_group", groupsPath, map[string]any{"name": "x"})
			h.retag(groupsPath, id, c.tags...)
			if o := l.look(keep, w); len(o.Unknown) != c.want || len(o.Problems) > 0 {
				t.Errorf("unknown %q, problems %v", o.Unknown, o.Problems)
			}
		})
	}
}
