package reconcile_test

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/cloud/reconcile/world"
	"github.com/vpnctl/vpnctl/cloud/simulator"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// TestForeignObjectsAreLeftAlone fills the project with what is not ours and wants
// every bit of it byte for byte as it was after apply, update, move and prune.
func TestForeignObjectsAreLeftAlone(t *testing.T) {
	w := world.New(t, simulator.Options{})
	w.Apply(world.Estate(t), plan.Options{})
	c := plant(w)
	before := c.look()
	readme := filepath.Join(w.Tree, "acme", "README.md")
	if err := os.WriteFile(readme, []byte("ours\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := w.Plan(world.Estate(t), plan.Options{Prune: true})
	if len(p.Pending()) > 0 {
		t.Errorf("look-alikes make changes: %s: %s", p.Pending()[0].ID, p.Pending()[0].Reason)
	}
	var kept []string
	for _, k := range p.Kept {
		kept = append(kept, k.Owner.Path()+" "+k.What)
	}
	slices.Sort(kept)
	if diff := cmp.Diff(c.printed(), kept); diff != "" {
		t.Errorf("printed as kept (-want +got):\n%s", diff)
	}
	fewer := renumber(t)
	fewer.Gateways = fewer.Gateways[1:]
	for _, r := range []run{
		{world.Estate(t), plan.Options{}},
		{changed(t), plan.Options{}},
		{moved(t), plan.Options{}},
		{renumber(t), plan.Options{}},
		{linkedToAll(t), plan.Options{}},
		{renumber(t), plan.Options{Prune: true}},
		{fewer, plan.Options{Prune: true, Hold: day}},
		{fewer, plan.Options{Prune: true, PodsGone: true}},
	} {
		w.Apply(r.estate, r.options)
		if diff := cmp.Diff(before, c.look()); diff != "" {
			t.Fatalf("foreign objects changed (-before +after):\n%s", diff)
		}
	}
	if content, err := os.ReadFile(readme); err != nil || string(content) != "ours\n" {
		t.Errorf("a file of another hand in the tree: %q, %v", content, err)
	}
}

// renumber moves the gateways whose addresses nobody has pinned to other ranges.
func renumber(t testing.TB) vpn.Estate {
	e := world.Estate(t)
	e.Gateways[0].ServiceCIDR = netip.MustParsePrefix("10.77.0.0/24")
	for i := range e.Gateways {
		if g := &e.Gateways[i]; g.WireGuard != nil {
			g.ServiceCIDR = netip.MustParsePrefix("10.78.0.0/24")
		}
	}
	return e
}

// crowd is what other hands have in the project, and on our own objects.
type crowd struct {
	world.Client
	ids   map[string]bool // whole objects
	parts map[string]bool // of objects that are not theirs: routes, pairs, groups of ports
	kept  []string        // what a plan has to name
}

// plant has other hands come to an estate that is whole. What they add to our own
// objects they add to every gateway but the first, with which it would go.
func plant(w *world.World) *crowd {
	w.T.Helper()
	c := &crowd{world.NewClient(w), map[string]bool{}, map[string]bool{}, nil}
	first := world.Estate(w.T).Gateways[0].Owner
	for _, o := range world.Snapshot(w.T, w) {
		owner, ours := ownerOf(o)
		if !ours {
			continue
		}
		switch o.Kind {
		case "security-group":
			c.groups(o)
		case "port":
			c.ports(o)
		case "floating-ip":
			c.floats(o)
		}
		if owner != first {
			c.add(o, owner)
		}
	}
	c.route("192.168.77.0/24", "10.254.0.77", "")
	c.otherEstate()
	return c
}

// ownerOf reads the owner tag.
func ownerOf(o simulator.Object) (vpn.Owner, bool) {
	for _, tag := range o.Tags() {
		if text, found := strings.CutPrefix(tag, "vpn.bnerd.net/owner="); found {
			return vpn.ParseOwner(text)
		}
	}
	return vpn.Owner{}, false
}

func (c *crowd) own(id string) string { c.ids[id] = true; return id }

func (c *crowd) retag(path, id string, tags ...string) {
	c.Put(path+"/"+id+"/tags", map[string]any{"tags": tags})
}

// find is the ID of something by its name.
func (c *crowd) find(kind, name string) string {
	c.T.Helper()
	for _, o := range world.Snapshot(c.T, c.World).Of(kind) {
		if o.Text("name") == name {
			return o.ID
		}
	}
	c.T.Fatalf("no %s %s", kind, name)
	return ""
}

// groups are look-alikes of one: its name alone, its name with foreign tags, its
// description with the name of another.
func (c *crowd) groups(like simulator.Object) {
	name, description := like.Text("name"), like.Text("description")
	c.own(c.Post("security-groups", "security_group", map[string]any{"name": name}))
	c.own(c.Post("security-groups", "security_group", map[string]any{"name": name + "-copy", "description": description}))
	id := c.own(c.Post("security-groups", "security_group", map[string]any{"name": name, "description": "by hand"}))
	c.retag("security-groups", id, "vpn.bnerd.net/managed=somebody", "team=red")
}

func (c *crowd) ports(like simulator.Object) {
	network, name := c.find("network", "vpn-transit"), like.Text("name")
	c.own(c.Post("ports", "port", map[string]any{"network_id": network, "name": name}))
	c.own(c.Post("ports", "port", map[string]any{"network_id": network, "name": name + "-copy", "description": like.Text("description")}))
	id := c.own(c.Post("ports", "port", map[string]any{"network_id": network, "name": name, "description": "by hand"}))
	c.retag("ports", id, "vpn.bnerd.net/managed=somebody", "team=red")
}

// floats are addresses with a description like ours, free ones and one in use.
func (c *crowd) floats(like simulator.Object) {
	pool, description := c.find("network", "public"), like.Text("description")
	c.own(c.Post("floatingips", "floatingip", map[string]any{"floating_network_id": pool, "description": description + " (copy)"}))
	id := c.own(c.Post("floatingips", "floatingip", map[string]any{"floating_network_id": pool, "description": strings.ToUpper(description)}))
	c.retag("floatingips", id, "vpn.bnerd.net/managed=somebody", "team=red")
	port := c.own(c.Post("ports", "port", map[string]any{"network_id": c.find("network", "vpn-transit"), "name": "lb"}))
	c.own(c.Post("floatingips", "floatingip", map[string]any{"floating_network_id": pool, "port_id": port}))
}

// add puts something of their own onto one of our objects.
func (c *crowd) add(o simulator.Object, owner vpn.Owner) {
	switch o.Kind {
	case "security-group":
		c.own(c.Post("security-group-rules", "security_group_rule", map[string]any{"security_group_id": o.ID, "direction": "ingress",
			"protocol": "tcp", "port_range_min": 22, "port_range_max": 22, "remote_ip_prefix": "192.0.2.0/24"}))
		c.keeps(owner, "rule ingress tcp 22 192.0.2.0/24")
	case "port":
		address := o.Attributes["fixed_ips"].([]any)[0].(map[string]any)["ip_address"].(string)
		subnet := fmt.Sprintf("192.168.%d.0/24", 100+len(c.parts)) // a customer's real one
		pairs := slices.Clone(o.Attributes["allowed_address_pairs"].([]any))
		for _, pair := range []string{subnet, "100.64.77.0/24", "100.64.0.50", "10.9.9.9/32"} {
			pairs = append(pairs, map[string]any{"ip_address": pair})
			c.parts["pair "+pair+" on "+o.ID] = true
			c.keeps(owner, "allowed address pair "+pair)
		}
		extra := c.own(c.Post("security-groups", "security_group", map[string]any{"name": "monitoring"}))
		groups := append(slices.Clone(o.Attributes["security_groups"].([]any)), extra)
		c.Put("ports/"+o.ID, map[string]any{"port": map[string]any{"allowed_address_pairs": pairs, "security_groups": groups}})
		c.parts["group "+extra+" on "+o.ID] = true
		c.keeps(owner, "security group "+extra+" on the port")
		for _, to := range []string{subnet, fmt.Sprintf("172.%d.0.0/16", 16+len(c.parts))} {
			c.route(to, address, owner.Path())
		}
	}
}

func (c *crowd) keeps(owner vpn.Owner, what string) {
	c.kept = append(c.kept, owner.Path()+" "+what)
}

// printed is what a plan has to print as kept, sorted.
func (c *crowd) printed() []string {
	return slices.Sorted(slices.Values(c.kept))
}

// route adds one to the estate's router; path is the gateway whose port is the
// next hop.
func (c *crowd) route(to, via, path string) {
	router := c.find("router", "gateway-router")
	c.Put("routers/"+router+"/add_extraroutes", map[string]any{"router": map[string]any{"routes": []any{
		map[string]any{"destination": to, "nexthop": via},
	}}})
	c.parts["route "+to+" "+via+" on "+router] = true
	if path != "" {
		c.kept = append(c.kept, path+" route "+to+" via "+via)
	}
}

// otherEstate makes a gateway of another estate, of the same name: each of its
// objects carries that estate's tags.
func (c *crowd) otherEstate() {
	tags := []string{"vpn.bnerd.net/estate=other", "vpn.bnerd.net/managed=vpnctl", "vpn.bnerd.net/owner=VPNGateway/acme/dc1"}
	named := map[string]any{"name": "vpnctl-acme-dc1", "description": "vpnctl estate=other owner=VPNGateway/acme/dc1"}
	with := func(more map[string]any) map[string]any {
		for k, v := range named {
			if _, set := more[k]; !set {
				more[k] = v
			}
		}
		return more
	}
	group := c.own(c.Post("security-groups", "security_group", with(map[string]any{})))
	c.retag("security-groups", group, append(slices.Clone(tags), "vpn.bnerd.net/protocol=ipsec", "vpn.bnerd.net/authorization=open",
		"vpn.bnerd.net/service-cidr=100.64.240.0/24", "vpn.bnerd.net/moving-from=100.64.241.0/24")...)
	port := c.own(c.Post("ports", "port", with(map[string]any{"network_id": c.find("network", "vpn-transit"), "security_groups": []string{group},
		"fixed_ips": []any{map[string]any{"ip_address": "10.254.0.99"}}})))
	c.retag("ports", port, tags...)
	float := c.own(c.Post("floatingips", "floatingip", map[string]any{"floating_network_id": c.find("network", "public"), "port_id": port,
		"description": named["description"]}))
	c.retag("floatingips", float, tags...)
	for _, to := range []string{"100.64.240.0/24", "100.64.241.0/24"} {
		c.route(to, "10.254.0.99", "")
	}
}

// look is what there is of theirs, exactly as it is.
func (c *crowd) look() []string {
	c.T.Helper()
	var all []string
	for _, o := range world.Snapshot(c.T, c.World) {
		if c.ids[o.ID] {
			text, err := json.Marshal(o)
			if err != nil {
				c.T.Fatal(err)
			}
			all = append(all, string(text))
		}
		for _, part := range parts(o) {
			if c.parts[part] {
				all = append(all, part)
			}
		}
	}
	return all
}

// parts are the routes of a router, the pairs and groups of a port.
func parts(o simulator.Object) (all []string) {
	for attribute, name := range map[string]func(any) string{
		"routes":                func(x any) string { return fmt.Sprint("route ", of(x, "destination"), " ", of(x, "nexthop")) },
		"allowed_address_pairs": func(x any) string { return fmt.Sprint("pair ", of(x, "ip_address")) },
		"security_groups":       func(x any) string { return fmt.Sprint("group ", x) },
	} {
		list, _ := o.Attributes[attribute].([]any)
		for _, x := range list {
			all = append(all, name(x)+" on "+o.ID)
		}
	}
	slices.Sort(all)
	return all
}

func of(x any, attribute string) any { return x.(map[string]any)[attribute] }

// TestLookAlikesInUseAreRefusedByName has objects with exactly our name and
// description, without tags, in use: nobody knows whose they are, so they are
// neither taken nor doubled, and the gateway waits.
func TestLookAlikesInUseAreRefusedByName(t *testing.T) {
	type makes func(c *crowd, model simulator.Object) (named string)
	port := func(c *crowd, more map[string]any) string {
		more["network_id"] = c.find("network", "vpn-transit")
		return c.own(c.Post("ports", "port", more))
	}
	like := func(o simulator.Object) map[string]any {
		return map[string]any{"name": o.Text("name"), "description": o.Text("description")}
	}
	for kind, make := range map[string]makes{
		"security-group": func(c *crowd, o simulator.Object) string {
			id := c.own(c.Post("security-groups", "security_group", like(o)))
			port(c, map[string]any{"name": "web", "security_groups": []string{id}})
			return id
		},
		"port": func(c *crowd, o simulator.Object) string {
			id := port(c, like(o))
			c.Put("ports/"+id, map[string]any{"port": map[string]any{"device_id": "11111111-2222-3333-4444-555555555555", "device_owner": "compute:nova"}})
			return id
		},
		"floating-ip": func(c *crowd, o simulator.Object) string {
			id := c.own(c.Post("floatingips", "floatingip", map[string]any{"floating_network_id": c.find("network", "public"),
				"description": o.Text("description"), "port_id": port(c, map[string]any{"name": "lb"})}))
			return id
		},
	} {
		t.Run(kind, func(t *testing.T) {
			model := world.New(t, simulator.Options{})
			model.Apply(world.Estate(t), plan.Options{})
			first := world.Estate(t).Gateways[0].Owner
			var theirs *crowd
			var named string
			w := world.New(t, simulator.Options{})
			for _, o := range world.Snapshot(t, model).Of(kind) {
				if owner, ours := ownerOf(o); ours && owner == first {
					theirs = &crowd{world.NewClient(w), map[string]bool{}, map[string]bool{}, nil}
					named = make(theirs, o)
				}
			}
			before := theirs.look()
			address := ""
			for _, o := range world.Snapshot(t, w).Of(kind) {
				if o.ID == named {
					address = o.Text("floating_ip_address")
				}
			}
			err := w.Run(t.Context(), world.Estate(t), plan.Options{}, 1)
			if err == nil || !strings.Contains(err.Error(), "lost its tags") || !strings.Contains(err.Error(), named) && (address == "" || !strings.Contains(err.Error(), address)) {
				t.Errorf("error %v, want one that names %s %s and says that it lost its tags", err, named, address)
			}
			refused := w.Plan(world.Estate(t), plan.Options{Prune: true}).Refusals
			if len(refused) != 1 || refused[0].Owner != first || !strings.Contains(refused[0].Message, named) {
				t.Errorf("refused by a plan with --prune: %v, want %s of %s alone", refused, named, first)
			}
			if diff := cmp.Diff(before, theirs.look()); diff != "" {
				t.Errorf("(-before +after):\n%s", diff)
			}
			doubles := world.Snapshot(t, w).Of(kind).Only(func(o simulator.Object) bool { owner, ours := ownerOf(o); return ours && owner == first })
			if len(doubles) > 0 {
				t.Errorf("another %s was made beside it", kind)
			}
		})
	}
}
