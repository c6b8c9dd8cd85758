package plan

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/vpnctl/vpnctl/plan/alloc"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// site is a gateway as these tests write it: enough of a manifest, a ledger and
// what the cloud knows to have every kind of resource.
type site struct {
	owner   string              // Kind/namespace/name
	peers   map[string]string   // name → address
	grants  map[string][]string // nil: no peer has a block
	cidr    string
	web     byte // octet of the exposure web
	plc     byte // octet of the reverse exposure plc; 0: there is none
	server  string
	address string // floating IP; empty: not known yet
	pinned  bool
	hop     string // the port's address; empty: not known yet
	image   string
}

func dc1() site {
	return site{
		owner: "VPNGateway/acme/dc1", peers: map[string]string{"plant1": "198.51.100.1"}, cidr: "100.64.3.0/24",
		web: 10, plc: 200, server: "worker-1", address: "203.0.113.3", hop: "10.254.0.3", image: "vpnctl:1",
	}
}

func (s site) name() vpn.Owner {
	o, ok := vpn.ParseOwner(s.owner)
	if !ok {
		panic(s.owner)
	}
	return o
}

func (s site) id(k resource.Kind) resource.ID {
	o := s.name()
	return resource.ID{Kind: k, Namespace: o.Namespace, Name: o.Name}
}

func (s site) gateway() vpn.Gateway {
	g := vpn.Gateway{Owner: s.name(), Protocol: vpn.IPsec, Exposures: []vpn.Exposure{{Name: "web", Target: tcp("10.0.0.5", 443)}}}
	if s.plc != 0 {
		g.ReverseExposures = []vpn.Exposure{{Name: "plc", Target: tcp("192.168.0.9", 502)}}
	}
	if s.pinned {
		g.FloatingIP = netip.MustParseAddr(s.address)
	}
	for i, name := range slices.Sorted(maps.Keys(s.peers)) {
		p := vpn.Peer{Name: name, Subnets: []netip.Prefix{netip.MustParsePrefix(fmt.Sprintf("192.168.%d.0/24", i))}}
		if granted, ok := s.grants[name]; ok {
			p.Grants = &vpn.Grants{Exposures: granted}
		}
		g.Peers = append(g.Peers, p)
	}
	return g
}

func tcp(address string, ports ...uint16) vpn.Target {
	t := vpn.Target{Address: netip.MustParseAddr(address)}
	for _, p := range ports {
		t.Protocol, t.Ports = "tcp", append(t.Ports, vpn.PortRange{From: p, To: p})
	}
	return t
}

func (s site) ledger() alloc.Ledger {
	g := s.gateway()
	l := alloc.Ledger{
		Estate: "prod", Owner: s.name(), Protocol: vpn.IPsec, ServiceCIDR: netip.MustParsePrefix(s.cidr),
		VirtualIPs: map[string]byte{"web": s.web}, Peers: slices.Sorted(maps.Keys(s.peers)), Grants: !g.DefaultAllow() && len(g.Peers) > 0,
		Applied: s.hash(),
	}
	if s.plc != 0 {
		l.VirtualIPs["plc"] = s.plc
	}
	if s.pinned {
		l.FloatingIP = "fip-" + s.address
	}
	return l
}

// hash is the intent: all but where the pod runs and what the cloud answers.
func (s site) hash() string {
	s.server, s.hop = "", ""
	if !s.pinned {
		s.address = ""
	}
	return fmt.Sprint(s)
}

// desired is what render would make of it.
func (s site) desired() resource.Graph {
	g := resource.Graph{}
	group, port, fip, route := s.id(resource.KindSecurityGroup), s.id(resource.KindPort), s.id(resource.KindFloatingIP), s.id(resource.KindRoute)
	add := func(r resource.Resource, needs ...resource.ID) {
		r.Owner, r.Needs = s.owner, needs
		g.Add(r)
	}
	add(resource.Resource{ID: group, SecurityGroup: &resource.SecurityGroup{Ledger: s.ledger().Entries(), Rules: s.rules()}})
	p := &resource.Port{Network: "transit", Address: unknown(s.hop), Node: s.server, Server: s.server}
	if s.plc != 0 {
		p.Pairs = []netip.Prefix{netip.MustParsePrefix(s.cidr)}
		add(resource.Resource{ID: route, Route: &resource.Route{
			Router: "r1", RouterName: "gateway-router", Destination: netip.MustParsePrefix(s.cidr), NextHop: unknown(s.hop),
		}}, port)
	}
	add(resource.Resource{ID: port, Port: p}, group)
	add(resource.Resource{ID: fip, FloatingIP: &resource.FloatingIP{Address: unknown(s.address), Pinned: s.pinned, Port: port}}, port)
	s.objects(add, port, fip)
	var all []resource.ID
	for id := range g {
		all = append(all, id)
	}
	slices.SortFunc(all, resource.ID.Compare)
	add(resource.Resource{ID: s.id(resource.KindApplied), Applied: &resource.Applied{Hash: s.hash()}}, all...)
	return g
}

func (s site) rules() []resource.Rule {
	var list []resource.Rule
	for name, address := range s.peers {
		for _, port := range []int{500, 4500} {
			list = append(list, resource.Rule{
				Direction: "ingress", Ether: "IPv4", Protocol: "udp", From: port, To: port,
				Remote: netip.MustParsePrefix(address + "/32"), Why: "peer " + name,
			})
		}
	}
	resource.SortRules(list)
	return list
}

func (s site) objects(add func(resource.Resource, ...resource.ID), port, fip resource.ID) {
	o := s.name()
	object := func(kind, name, content string, needs ...resource.ID) resource.ID {
		id := resource.ID{Kind: resource.KubernetesKind(kind), Namespace: o.Namespace, Name: name}
		add(resource.Resource{ID: id, Object: &resource.Object{
			APIVersion: "v1", Kind: kind, Namespace: o.Namespace, Name: name,
			Path:    fmt.Sprintf("%s/%s/%s-%s.yaml", o.Namespace, o.Name, strings.ToLower(kind), name),
			Content: content,
		}}, needs...)
		return id
	}
	var conf strings.Builder
	fmt.Fprintf(&conf, "data:\n  swanctl.conf: |\n    connections {\n")
	for _, name := range slices.Sorted(maps.Keys(s.peers)) {
		fmt.Fprintf(&conf, "      %s {\n        local_id = %s\n        remote_addrs = %s\n      }\n", name, unknown(s.address), s.peers[name])
	}
	conf.WriteString("    }\n")
	list := []resource.ID{
		object("NetworkAttachmentDefinition", o.Name, "address: "+unknown(s.hop)+"\n", port),
		object("ConfigMap", o.Name+"-swanctl", conf.String(), fip),
		object("ConfigMap", o.Name+"-nat", fmt.Sprintf("web: %s %d\nplc: %d\ngrants: %v\ndefault: %v\n", s.cidr, s.web, s.plc, s.grants, s.gateway().DefaultAllow()), port),
	}
	list = append(list, object("Deployment", o.Name, "image: "+s.image+"\nnodeName: "+s.server+"\n", list...))
	object("Kustomization", o.Name, fmt.Sprintf("resources: %d\n", len(list)), list...)
}

func unknown(s string) string {
	if s == "" {
		return resource.Unknown
	}
	return s
}

// observed is what the drivers would see of the gateway once it is made.
func (s site) observed() resource.Graph {
	g := s.desired()
	for id, r := range g {
		g[id] = seen(r)
	}
	return g
}

func seen(r resource.Resource) resource.Resource {
	r.Needs, r.Ref, r.Proof = nil, "ref-"+r.ID.String(), "tag owner="+r.Owner
	return r
}

// world is an input in the making.
type world struct {
	Input
}

// between is the input that leads from one set of sites to another.
func between(before, after []site) *world {
	w := &world{Input{
		Estate:  vpn.Estate{Name: "prod", Kubernetes: vpn.Kubernetes{Target: vpn.TargetCluster}},
		Desired: resource.Graph{}, Observed: resource.Graph{}, Before: map[string]map[string]vpn.Access{},
		Now: noon, Manifests: max(1, len(after)), Judge: judge,
	}}
	for _, s := range before {
		w.Observed.Merge(s.observed())
		w.Ledgers = append(w.Ledgers, s.ledger())
		w.Before[s.owner] = map[string]vpn.Access{}
		g := s.gateway()
		for _, p := range g.Peers {
			w.Before[s.owner][p.Name] = g.Access(p)
		}
	}
	for _, s := range after {
		w.Desired.Merge(s.desired())
		w.Estate.Gateways = append(w.Estate.Gateways, s.gateway())
	}
	return w
}

// judge tells a peer's line of the test configuration.
func judge(before, after resource.Resource) Verdict {
	if before.Object.Kind == "Deployment" {
		return Verdict{Impact: ImpactRestart, Consequence: "the pod rolls"}
	}
	return Verdict{Impact: ImpactReload}
}

// edit changes an observed resource.
func (w *world) edit(id resource.ID, how func(*resource.Resource)) {
	r := w.Observed[id]
	if r.ID.IsZero() {
		panic("no " + id.String())
	}
	how(&r)
	w.Observed[id] = r
}

// carry does what a plan says to the observed side, as the drivers would.
func (w *world) carry(p Plan) {
	for _, c := range p.Pending() {
		w.step(c)
	}
}

func (w *world) step(c Change) {
	if c.Action == Delete || c.Action == Release {
		delete(w.Observed, c.ID)
		if c.ID.Kind == resource.KindSecurityGroup {
			delete(w.Observed, resource.ID{Kind: resource.KindApplied, Namespace: c.ID.Namespace, Name: c.ID.Name})
			w.Ledgers = slices.DeleteFunc(w.Ledgers, func(l alloc.Ledger) bool { return l.Owner == c.Owner })
		}
		return
	}
	r := seen(*c.After)
	if have, ok := w.Observed[c.ID]; ok {
		r = foreign(r, have)
	}
	w.Observed[c.ID] = r
	if r.SecurityGroup != nil {
		w.write(c.Owner, *r.SecurityGroup)
	}
	if r.Applied != nil {
		for i := range w.Ledgers {
			if w.Ledgers[i].Owner == c.Owner {
				w.Ledgers[i].Applied = r.Applied.Hash
			}
		}
	}
}

// write makes the ledger that a group carries the one that is observed.
func (w *world) write(o vpn.Owner, g resource.SecurityGroup) {
	l, err := alloc.ParseEntries(g.Ledger)
	if err != nil {
		panic(err)
	}
	l.Estate, l.Owner, l.Draining = "prod", o, g.Draining
	i := slices.IndexFunc(w.Ledgers, func(l alloc.Ledger) bool { return l.Owner == o })
	if i < 0 {
		w.Ledgers = append(w.Ledgers, l)
		return
	}
	l.Applied = w.Ledgers[i].Applied
	w.Ledgers[i] = l
}

// foreign keeps what other hands added to a resource.
func foreign(r, have resource.Resource) resource.Resource {
	switch {
	case r.SecurityGroup != nil:
		g := *r.SecurityGroup
		g.Foreign = have.SecurityGroup.Foreign
		r.SecurityGroup = &g
	case r.Port != nil:
		p := *r.Port
		p.Foreign = have.Port.Foreign
		r.Port = &p
	case r.Route != nil:
		x := *r.Route
		x.Foreign = have.Route.Foreign
		r.Route = &x
	}
	return r
}

// outline is the changes of a plan in few words: action, ID, impact, held.
func outline(p Plan) []string {
	var all []string
	for _, c := range p.Changes {
		s := c.Action.Sign() + " " + c.ID.String()
		if c.Impact > ImpactNone {
			s += " " + c.Impact.String()
		}
		if c.Drift {
			s += " drift"
		}
		if c.Held != "" {
			s += " held"
		}
		all = append(all, s)
	}
	return all
}
