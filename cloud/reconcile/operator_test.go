package reconcile_test

import (
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/vpnctl/vpnctl/cloud/reconcile/world"
	"github.com/vpnctl/vpnctl/cloud/simulator"
	"github.com/vpnctl/vpnctl/plan/alloc"
	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/state"
)

// renumbered has ranges and virtual IPs that nobody would choose anew.
func renumbered(w *world.World) vpn.Estate {
	e := world.Estate(w.T)
	for i := range e.Gateways {
		g := &e.Gateways[i]
		if g.ServiceCIDR.IsValid() {
			continue // it is asked for by its manifest
		}
		g.ServiceCIDR = netip.PrefixFrom(netip.AddrFrom4([4]byte{100, 64, byte(40 + 3*i), 0}), 24)
		for j := range g.Exposures {
			g.Exposures[j].VirtualIP = inside(g.ServiceCIDR, 90-7*j)
		}
		for j := range g.ReverseExposures {
			g.ReverseExposures[j].VirtualIP = inside(g.ServiceCIDR, 230-5*j)
		}
		seated(g, 210)
	}
	return e
}

// seated pins the addresses of road warriors.
func seated(g *vpn.Gateway, octet int) {
	cidr := g.ServiceCIDR
	for i := range g.Peers {
		if p := &g.Peers[i]; p.RoadWarrior {
			p.TunnelIP = inside(cidr, octet+i)
		}
	}
}

func inside(p netip.Prefix, octet int) netip.Addr {
	b := p.Addr().As4()
	b[3] = byte(octet)
	return netip.AddrFrom4(b)
}

// fromOperator makes an operator's of everything that the gateways have, and asks for them
// without saying which addresses they have: their statuses do.
func fromOperator(w *world.World) vpn.Estate {
	w.Operated = nil
	for i, g := range renumbered(w).Gateways {
		w.Operated = append(w.Operated, handOver(w, g, uid(i)))
	}
	for _, path := range w.Files() {
		if err := os.Remove(filepath.Join(w.Tree, path)); err != nil {
			w.T.Fatal(err)
		}
	}
	e := world.Estate(w.T)
	for i := range e.Gateways {
		g := e.Gateways[i]
		g.ServiceCIDR = renumbered(w).Gateways[i].ServiceCIDR
		seated(&g, 210)
	}
	return e
}

func uid(n int) string { return fmt.Sprintf("7d1c3c52-9a5e-4c1f-8a57-%012d", n) }

// operatorTag is the one by which an operator finds its objects again.
func operatorTag(o vpn.Owner, uid string) string {
	if o.Kind == vpn.KindIPsecGateway {
		return "ipsec.bnerd.net/uid=" + uid
	}
	return "vpn.bnerd.net/uid=" + uid
}

// handOver makes what a gateway has an operator's, and writes the status that it has
// then.
func handOver(w *world.World, g vpn.Gateway, uid string) alloc.Operated {
	w.T.Helper()
	c := world.NewClient(w)
	status := alloc.Operated{Owner: g.Owner, UID: uid}
	for _, o := range world.Snapshot(w.T, w) {
		if owner, ours := ownerOf(o); !ours || owner != g.Owner {
			continue
		}
		tags := []string{operatorTag(g.Owner, uid)}
		names := map[string]any{"name": "gw-" + g.Owner.Name, "description": "bnerd-vpn-operator " + tags[0]}
		switch o.Kind {
		case "security-group":
			l, _, err := state.ReadLedger(texts(o.Attributes["tags"]))
			if err != nil {
				w.T.Fatal(err)
			}
			status.ServiceCIDR, status.VirtualIPs = l.ServiceCIDR, map[string]netip.Addr{}
			for name := range l.VirtualIPs {
				status.VirtualIPs[name] = l.VirtualIP(name)
			}
			c.Put("security-groups/"+o.ID, map[string]any{"security_group": names})
			c.Put("security-groups/"+o.ID+"/tags", map[string]any{"tags": tags})
			undescribe(c, o)
		case "port":
			ip := o.Attributes["fixed_ips"].([]any)[0].(map[string]any)["ip_address"].(string)
			status.PortAddress = netip.MustParseAddr(ip)
			c.Put("ports/"+o.ID, map[string]any{"port": names})
			c.Put("ports/"+o.ID+"/tags", map[string]any{"tags": tags})
		case "floating-ip":
			status.FloatingIP = netip.MustParseAddr(o.Text("floating_ip_address"))
			c.Put("floatingips/"+o.ID, map[string]any{"floatingip": map[string]any{"description": names["description"]}})
			c.Put("floatingips/"+o.ID+"/tags", map[string]any{"tags": tags})
		}
	}
	return status
}

// undescribe makes the rules of a group anew, without a word.
func undescribe(c world.Client, group simulator.Object) {
	c.T.Helper()
	for _, r := range world.Snapshot(c.T, c.World).Of("security-group-rule") {
		if r.Text("security_group_id") != group.ID || r.Text("direction") != "ingress" {
			continue
		}
		body := map[string]any{}
		for _, name := range []string{"security_group_id", "direction", "ethertype", "protocol", "port_range_min", "port_range_max", "remote_ip_prefix"} {
			body[name] = r.Attributes[name]
		}
		c.Remove("security-group-rules/" + r.ID)
		c.Post("security-group-rules", "security_group_rule", body)
	}
}

func texts(list any) []string {
	var all []string
	for _, t := range list.([]any) {
		all = append(all, t.(string))
	}
	slices.Sort(all)
	return slices.DeleteFunc(all, func(t string) bool { return strings.TrimSpace(t) == "" })
}
