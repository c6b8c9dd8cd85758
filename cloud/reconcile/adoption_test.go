package reconcile_test

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/cloud/reconcile/world"
	"github.com/vpnctl/vpnctl/cloud/simulator"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/state"
)

// adopted is a world whose gateways an operator made, and the estate that asks for them.
func adopted(t *testing.T) (*world.World, vpn.Estate) {
	t.Helper()
	w := world.New(t, simulator.Options{})
	w.Apply(renumbered(w), plan.Options{})
	return w, fromOperator(w)
}

// TestAdoption wants a world that an operator made to become what it would be if vpnctl
// had made it, with every address as it was, in which the next plan finds nothing to do.
func TestAdoption(t *testing.T) {
	w, e := adopted(t)
	p := w.Plan(e, plan.Options{})
	for _, c := range p.Pending() {
		switch {
		case c.ID.Kind.Cloud() && c.After.Applied == nil && c.Action != plan.Adopt:
			t.Errorf("%s %s: %s", c.Action, c.ID, c.Reason)
		case c.ID.Kind.Cloud() && c.After.Applied == nil && !strings.Contains(c.Reason, "bnerd.net/uid="):
			t.Errorf("%s: the reason doesn't name the operator's tag: %s", c.ID, c.Reason)
		}
	}
	before := lasting(t, w)
	w.Apply(e, plan.Options{})
	w.Operated = nil // whatever they told stands in the ledgers now
	quiet(t, w, run{e, plan.Options{}}, "the adoption")
	if diff := cmp.Diff(before, lasting(t, w)); diff != "" {
		t.Errorf("what had to stay (-before +after):\n%s", diff)
	}
	for _, o := range world.Snapshot(t, w) {
		if len(state.OperatorUIDs(o.Tags())) > 0 || strings.Contains(o.Text("description"), "operator") {
			t.Errorf("%s %s is still the operator's: %v", o.Kind, o.ID, o.Tags())
		}
	}
	want := world.New(t, simulator.Options{})
	want.Apply(renumbered(want), plan.Options{})
	want.Apply(e, plan.Options{})
	if diff := cmp.Diff(want.Look(), w.Look()); diff != "" {
		t.Errorf("it isn't as if vpnctl had made it (-want +got):\n%s", diff)
	}
}

// lasting is what nobody may notice anything of: which objects there are, their addresses
// and attachments, and the routes.
func lasting(t *testing.T, w *world.World) map[string]any {
	t.Helper()
	all := map[string]any{}
	for _, o := range world.Snapshot(t, w) {
		if o.Kind == "security-group-rule" {
			continue
		}
		for _, name := range []string{"fixed_ips", "mac_address", "device_id", "floating_ip_address", "port_id", "routes", "security_groups"} {
			if v := o.Attributes[name]; v != nil {
				all[o.Kind+" "+o.ID+" "+name] = v
			}
		}
		all[o.Kind+" "+o.ID] = true
	}
	return all
}

// TestAdoptionRefused: whatever is unclear about one gateway leaves it alone as a whole,
// and the refusal names what it is.
func TestAdoptionRefused(t *testing.T) {
	tests := map[string]struct {
		change func(w *world.World, c world.Client, e *vpn.Estate)
		want   []string
	}{
		"the operator may be at work": {
			func(w *world.World, _ world.Client, _ *vpn.Estate) { w.Working = true },
			[]string{"may be at work", "--operator-stopped"},
		},
		"an object of two UIDs": {
			func(w *world.World, c world.Client, _ *vpn.Estate) {
				c.Put("ports/"+operators(w, "port")+"/tags", map[string]any{"tags": []string{"vpn.bnerd.net/uid=" + uid(0), "vpn.bnerd.net/uid=" + uid(7)}})
			},
			[]string{"carries an operator's tags of 2 UIDs"},
		},
		"an object that carries another owner's tags too": {
			func(w *world.World, c world.Client, _ *vpn.Estate) {
				other := vpn.Owner{Kind: vpn.KindVPNGateway, Namespace: "acme", Name: "other"}
				c.Put("ports/"+operators(w, "port")+"/tags", map[string]any{"tags": append(state.Tags("elsewhere", other), "vpn.bnerd.net/uid="+uid(0))})
			},
			[]string{"and the tags of VPNGateway/acme/other of estate elsewhere"},
		},
		"a second group of one UID": {
			func(w *world.World, c world.Client, _ *vpn.Estate) {
				tagged(c, "security-groups", "security_group", map[string]any{"name": "again"})
			},
			[]string{"security groups ", "are all its own, by the UID " + uid(0)},
		},
		"a second address of one UID": {
			func(w *world.World, c world.Client, e *vpn.Estate) {
				tagged(c, "floatingips", "floatingip", map[string]any{"floating_network_id": pool(w, *e)})
			},
			[]string{"floating IPs ", "are all its own"},
		},
		"an object in another project": {
			func(w *world.World, _ world.Client, _ *vpn.Estate) {
				tagged(world.ClientAs(w, "customer"), "security-groups", "security_group", map[string]any{"name": "theirs"})
				w.Login = "operator-admin" // who sees it
			},
			[]string{"but stands in another project"},
		},
		"no group": {
			func(w *world.World, c world.Client, _ *vpn.Estate) {
				c.Put("security-groups/"+operators(w, "security-group")+"/tags", map[string]any{"tags": []string{}})
			},
			[]string{"no security group carries its UID", "the group that its port is in ("},
		},
		"no port, though the status has one": {
			func(w *world.World, c world.Client, _ *vpn.Estate) {
				c.Put("ports/"+operators(w, "port")+"/tags", map[string]any{"tags": []string{}})
			},
			[]string{"its status says that its port has ", "no port carries its UID"},
		},
		"nothing at all": {
			func(w *world.World, _ world.Client, _ *vpn.Estate) { w.Operated[0].UID = uid(99) },
			[]string{"nothing in this project carries its UID " + uid(99)},
		},
		"a status with another port": {
			func(w *world.World, _ world.Client, _ *vpn.Estate) {
				w.Operated[0].PortAddress = netip.MustParseAddr("10.254.0.250")
			},
			[]string{"its status says that its port has 10.254.0.250, but port "},
		},
		"a status with another floating IP": {
			func(w *world.World, _ world.Client, _ *vpn.Estate) {
				w.Operated[0].FloatingIP = netip.MustParseAddr("203.0.113.250")
			},
			[]string{"its status says that it has floating IP 203.0.113.250, but 203.0.113."},
		},
		"a floating IP that isn't the operator's": {
			func(w *world.World, c world.Client, _ *vpn.Estate) {
				c.Put("floatingips/"+operators(w, "floating-ip")+"/tags", map[string]any{"tags": []string{}})
			},
			[]string{"it is the customer's", "pin it (spec.endpoint.floatingIP: 203.0.113."},
		},
		"another range routed to the port": {
			func(w *world.World, _ world.Client, _ *vpn.Estate) {
				w.Operated[0].ServiceCIDR = netip.MustParsePrefix("100.64.99.0/24")
				w.Operated[0].VirtualIPs = nil
			},
			[]string{"its status says that it has service CIDR 100.64.99.0/24, but router gateway-router leads 100.64.40.0/24 to its port", "but its port allows 100.64.40.0/24"},
		},
		"a status without a range": {
			func(w *world.World, _ world.Client, _ *vpn.Estate) { w.Operated[0].ServiceCIDR = netip.Prefix{} },
			[]string{"its status doesn't say which service CIDR it has"},
		},
		"a status that makes no sense": {
			func(w *world.World, _ world.Client, _ *vpn.Estate) {
				w.Operated[0].Problem = "status.serviceCIDR: no range"
			},
			[]string{"can't be accepted as the ledger: status.serviceCIDR: no range"},
		},
		"another range pinned": {
			func(_ *world.World, _ world.Client, e *vpn.Estate) {
				e.Gateways[0].ServiceCIDR = netip.MustParsePrefix("100.64.77.0/24")
			},
			[]string{"service CIDR 100.64.77.0/24 is pinned, but an operator gave it 100.64.40.0/24", "take it over as it stands first"},
		},
		"another virtual IP pinned": {
			func(_ *world.World, _ world.Client, e *vpn.Estate) {
				e.Gateways[0].Exposures[0].VirtualIP = netip.MustParseAddr("100.64.40.11")
			},
			[]string{"pins virtual IP 100.64.40.11, but an operator gave it 100.64.40.90"},
		},
		"another floating IP pinned": {
			func(w *world.World, c world.Client, e *vpn.Estate) {
				id := c.Post("floatingips", "floatingip", map[string]any{"floating_network_id": pool(w, *e)})
				for _, f := range world.Snapshot(w.T, w).Of("floating-ip") {
					if f.ID == id {
						e.Gateways[0].FloatingIP = netip.MustParseAddr(f.Text("floating_ip_address"))
					}
				}
			},
			[]string{"is pinned, but an operator gave it another one"},
		},
		"a road warrior whose address nobody knows": {
			func(_ *world.World, _ world.Client, e *vpn.Estate) {
				e.Gateways[0].Peers = append(slices.Clone(e.Gateways[0].Peers), vpn.Peer{Name: "ina", RoadWarrior: true})
			},
			[]string{"peer ina has a tunnel address that an operator chose", "spec.wireguard.address"},
		},
	}
	made := world.New(t, simulator.Options{})
	made.Apply(renumbered(made), plan.Options{})
	ready := fromOperator(made)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w, e := made.Copy(t), ready
			w.Operated = slices.Clone(made.Operated)
			e.Gateways = slices.Clone(ready.Gateways)
			e.Gateways[0].Exposures = slices.Clone(e.Gateways[0].Exposures)
			test.change(w, world.NewClient(w), &e)
			p := w.Plan(e, plan.Options{})
			first := e.Gateways[0].Owner
			for _, c := range p.Pending() {
				if c.Owner == first {
					t.Errorf("%s %s in spite of it", c.Action, c.ID)
				}
			}
			var said string
			for _, r := range p.Refusals {
				if r.Owner == first {
					said += r.Message + "; " + r.Hint + "\n"
				}
			}
			for _, want := range test.want {
				if !strings.Contains(said, want) {
					t.Errorf("the refusal doesn't say %q:\n%s", want, said)
				}
			}
		})
	}
}

// operators is the first gateway's object of a kind, by the operator's tag.
func operators(w *world.World, kind string) string {
	w.T.Helper()
	for _, o := range world.Snapshot(w.T, w).Of(kind) {
		if slices.Contains(o.Tags(), "vpn.bnerd.net/uid="+uid(0)) {
			return o.ID
		}
	}
	w.T.Fatalf("no %s of the operator's", kind)
	return ""
}

// tagged makes an object with the operator's tag of the first gateway.
func tagged(c world.Client, path, key string, body map[string]any) string {
	c.T.Helper()
	id := c.Post(path, key, body)
	c.Put(path+"/"+id+"/tags", map[string]any{"tags": []string{"vpn.bnerd.net/uid=" + uid(0)}})
	return id
}

func pool(w *world.World, e vpn.Estate) string {
	w.T.Helper()
	for _, n := range world.Snapshot(w.T, w).Of("network") {
		if n.Text("name") == e.OpenStack.FloatingIPPool {
			return n.ID
		}
	}
	w.T.Fatal("there is no pool")
	return ""
}
