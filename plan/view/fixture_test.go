package view

import (
	"net/netip"

	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

var (
	dc1    = vpn.Owner{Kind: vpn.KindVPNGateway, Namespace: "acme", Name: "dc1"}
	remote = vpn.Owner{Kind: vpn.KindVPNGateway, Namespace: "globex", Name: "remote"}
	old    = vpn.Owner{Kind: vpn.KindIPsecGateway, Namespace: "initech", Name: "old"}
	gone   = vpn.Owner{Kind: vpn.KindVPNGateway, Namespace: "umbrella", Name: "gone"}

	yes, no = true, false

	header = Header{Cloud: "operator (fra1)", Target: "directory deploy", Directory: "deploy"}
)

func id(kind resource.Kind, o vpn.Owner) resource.ID {
	return resource.ID{Kind: kind, Namespace: o.Namespace, Name: o.Name}
}

func object(o vpn.Owner, kind, name string) (resource.ID, *resource.Resource) {
	id := resource.ID{Kind: resource.KubernetesKind(kind), Namespace: o.Namespace, Name: name}
	return id, &resource.Resource{ID: id, Owner: o.String(), Object: &resource.Object{
		Kind: kind, Namespace: o.Namespace, Name: name,
		Path: o.Namespace + "/" + o.Name + "/" + id.Kind.Short() + "-" + name + ".yaml",
	}}
}

// everything has every action, sign, impact and kind of line.
func everything() plan.Plan {
	return plan.Plan{
		Version: plan.Version, Estate: "prod-fra1",
		Owners: []plan.Owner{
			{Owner: dc1, Protocol: vpn.IPsec, Peers: []string{"plant1", "plant2"}, Secrets: []vpn.SecretRef{{Name: "plant2-psk", Key: "psk"}}},
			{Owner: remote, Protocol: vpn.WireGuard, Peers: []string{"ina"}, New: true, Namespace: remote.Namespace, Secrets: []vpn.SecretRef{{Name: "ina-psk", Key: "psk"}, {Name: "remote-wg-key", Key: "privateKey"}}},
			{Owner: old, Protocol: vpn.IPsec, Peers: []string{"main"}},
			{Owner: gone, Protocol: vpn.IPsec, Peers: []string{"hive"}, Gone: true},
		},
		Changes: append(append(moved(), fresh()...), removed()...),
		Kept: []plan.Kept{{ID: id(resource.KindPort, dc1), Owner: dc1,
			What: "allowed address pair 10.9.9.9/32", Why: "added by someone else"}},
		Notices: []plan.Notice{
			{Message: "cloud operator refuses chosen addresses: this run takes no lock", Hint: "set spec.openstack.lockAddress"},
			{Owner: dc1, Message: "peer plant3 has gone from the manifests and stays", Hint: "--prune removes it"},
		},
		Access: []plan.Access{
			{Gateway: dc1, Peer: "plant1", Exposure: "web", Before: &yes, After: &yes},
			{Gateway: dc1, Peer: "plant2", Exposure: "web", Before: &yes, After: &no, Note: "second peer without a grant: add authorization.exposures: [web]"},
			{Gateway: dc1, Peer: "plant2", Exposure: "plc", Reverse: true, Before: &no, After: &yes},
			{Gateway: remote, Peer: "ina", Exposure: "erp", After: &yes},
		},
	}
}

func moved() []plan.Change {
	conf, confAfter := object(dc1, "ConfigMap", "dc1-swanctl")
	pod, podAfter := object(dc1, "Deployment", "dc1")
	route := resource.Resource{Route: &resource.Route{RouterName: "gateway-router",
		Destination: netip.MustParsePrefix("100.64.3.0/24"), NextHop: "10.254.0.12"}}
	return []plan.Change{
		{ID: id(resource.KindSecurityGroup, dc1), Owner: dc1, Action: plan.Update, Reason: "peer plant2 moved",
			After: &resource.Resource{SecurityGroup: &resource.SecurityGroup{Rules: []resource.Rule{{Direction: "ingress", Ether: "IPv4", Protocol: "udp",
				From: 500, To: 500, Remote: netip.MustParsePrefix("198.51.100.20/32"), Why: "peer plant2"}}}},
			Attributes: []plan.Attribute{
				{Name: "rules",
					Before: "egress any anywhere\ningress udp 500 198.51.100.7/32",
					After:  "egress any anywhere\ningress udp 500 198.51.100.20/32"},
				{Name: "ledger peers.1", Before: "plant1", After: "plant1;plant2"},
			}},
		{ID: id(resource.KindPort, dc1), Owner: dc1, Action: plan.Adopt, Reason: "made by hand on the right network",
			After: &resource.Resource{Port: &resource.Port{Address: "10.254.0.12", Node: "worker-2",
				Pairs: []netip.Prefix{netip.MustParsePrefix("100.64.3.0/24")}}}},
		{ID: id(resource.KindFloatingIP, dc1), Owner: dc1, Action: plan.Replace, Reason: "pinned to 203.0.113.9",
			Proof: "tag owner=VPNGateway/acme/dc1", Impact: plan.ImpactCustomer, Customers: []string{"plant1", "plant2"},
			After: &resource.Resource{FloatingIP: &resource.FloatingIP{Address: "203.0.113.9", Pinned: true}}},
		{ID: id(resource.KindRoute, dc1), Owner: dc1, Action: plan.Create, Drift: true, Reason: "missing on the router", After: &route},
		{ID: conf, Owner: dc1, Action: plan.Update, Reason: "peer plant2 moved", Impact: plan.ImpactReconnect,
			Interrupts: []string{"plant2"}, Consequence: "acme/plant2 renegotiates; acme/plant1 keeps its tunnel", After: confAfter,
			Attributes: []plan.Attribute{{Name: "swanctl.conf", Diff: "@@ connections.plant2\n-\tremote_addrs = 198.51.100.7\n+\tremote_addrs = 198.51.100.20\n"}}},
		{ID: pod, Owner: dc1, Action: plan.Update, Reason: "image changed", Impact: plan.ImpactRestart, Interrupts: []string{"plant1", "plant2"},
			After: podAfter, Attributes: []plan.Attribute{{Name: "image", Before: "vpnctl:1", After: "vpnctl:2"}, {Name: "priority", After: "high"}, {Name: "note", Before: "x"}}},
	}
}

func fresh() []plan.Change {
	changes := []plan.Change{
		{ID: id(resource.KindSecurityGroup, remote), Owner: remote, Action: plan.Create, Reason: "new gateway",
			After: &resource.Resource{SecurityGroup: &resource.SecurityGroup{Ledger: []resource.Entry{
				{Name: "addresses.1", Value: "ina:199"}, {Name: "service-cidr", Value: "100.64.7.0/24"}, {Name: "vips.1", Value: "erp:10"}}}}},
		{ID: id(resource.KindPort, remote), Owner: remote, Action: plan.Create, Reason: "new gateway",
			After: &resource.Resource{Port: &resource.Port{Address: resource.Unknown, Node: "worker-3"}}},
		{ID: id(resource.KindFloatingIP, remote), Owner: remote, Action: plan.Create, Reason: "new gateway",
			After: &resource.Resource{FloatingIP: &resource.FloatingIP{Address: resource.Unknown, Pool: "public"}}},
	}
	changes = append(changes, plan.Change{ID: id(resource.KindApplied, remote), Owner: remote, Action: plan.Create, Reason: "new gateway",
		After: &resource.Resource{Applied: &resource.Applied{Hash: "0123456789abcdef"}}, Attributes: []plan.Attribute{{Name: "hash", After: "0123456789abcdef"}}})
	for _, kind := range []string{"ConfigMap", "Deployment", "Role"} {
		id, after := object(remote, kind, "remote")
		changes = append(changes, plan.Change{ID: id, Owner: remote, Action: plan.Create, Reason: "new gateway", After: after,
			Attributes: []plan.Attribute{{Name: "kind", After: kind}}})
	}
	return changes
}

func removed() []plan.Change {
	const why, proof = "no manifest any more", "tag owner=VPNGateway/umbrella/gone"
	var changes []plan.Change
	for _, kind := range []string{"ConfigMap", "Deployment"} {
		id, before := object(gone, kind, "gone")
		changes = append(changes, plan.Change{ID: id, Owner: gone, Action: plan.Delete, Reason: why, Before: before,
			Proof: "marker owner=VPNGateway/umbrella/gone", Impact: plan.ImpactRestart, Interrupts: []string{"hive"}})
	}
	const held = "pods may still run: held until 2026-01-02T15:04:05Z, or --pods-gone"
	return append(changes,
		plan.Change{ID: id(resource.KindFloatingIP, gone), Owner: gone, Action: plan.Release, Reason: why, Proof: "ledger floating-ip=4711"},
		plan.Change{ID: id(resource.KindPort, gone), Owner: gone, Action: plan.Delete, Reason: why, Proof: proof, Held: held},
		plan.Change{ID: id(resource.KindSecurityGroup, gone), Owner: gone, Action: plan.Delete, Reason: why, Proof: proof, Held: held})
}

// held has nothing to do now.
func heldOnly() plan.Plan {
	p := everything()
	p.Owners, p.Changes = p.Owners[3:], p.Changes[len(p.Changes)-2:]
	p.Kept, p.Notices, p.Access = nil, nil, nil
	return p
}

// refused has one gateway refused and nothing else to do.
func refused() plan.Plan {
	return plan.Plan{Estate: "prod-fra1",
		Owners: []plan.Owner{{Owner: dc1, Protocol: vpn.IPsec, Peers: []string{"plant1"}}},
		Refusals: []plan.Refusal{
			{Owner: dc1, Message: "plant1 would reach everything: nobody wrote that down", Hint: "give plant1 an authorization block"},
			{ID: id(resource.KindRoute, dc1), Owner: dc1, Message: "100.64.3.0/24 leads to 10.254.0.99 (not ours)"},
			{Message: "gateway acme/dc2 is not known", Hint: "acme/dc1?"},
		}}
}

// hostile has names that try to leave their place.
func hostile() plan.Plan {
	o := vpn.Owner{Kind: vpn.KindVPNGateway, Namespace: "a\x1b[2J", Name: "b|`<script>`\r\n@everyone"}
	id, after := object(o, "ConfigMap", "x\u202egnp.exe")
	return plan.Plan{Estate: "e\x07",
		Owners: []plan.Owner{{Owner: o, Protocol: "ipsec\x00", Peers: []string{"p\n# head"}}},
		Changes: []plan.Change{{ID: id, Owner: o, Action: plan.Update, After: after, Reason: "r\x1b[31m", Impact: plan.ImpactCustomer,
			Interrupts: []string{"p\n# head"}, Customers: []string{"p\n# head"}, Consequence: "see https://evil.example/ www.evil.example #1",
			Attributes: []plan.Attribute{{Name: "n\n```", Diff: "@@ x\n+```\n+</details>\x1b]0;title\x07\r\n+````\n"}}}},
		Kept:     []plan.Kept{{ID: id, Owner: o, What: "w\x9b", Why: "\xff\xfe"}},
		Notices:  []plan.Notice{{Message: "<img src=x>\n\n---", Hint: "h\x1b"}},
		Refusals: []plan.Refusal{{Owner: o, Message: "m\x1b | x", Hint: "h\n```"}},
		Access:   []plan.Access{{Gateway: o, Peer: "p|q", Exposure: "e\x1b", After: &yes, Note: "n|\x1b"}},
	}
}

// many has n gateways, every one of which changes, with diffs of some lines.
func many(n, lines int) plan.Plan {
	p := plan.Plan{Estate: "large"}
	for i := range n {
		o := vpn.Owner{Kind: vpn.KindVPNGateway, Namespace: "customer-" + string(rune('a'+i%26)), Name: "gateway-" + netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)}).String()}
		conf, after := object(o, "ConfigMap", o.Name+"-swanctl")
		diff := "@@ connections.p\n"
		for range lines {
			diff += "-  remote_addrs = 198.51.100.7\n+  remote_addrs = 198.51.100.20\n"
		}
		p.Owners = append(p.Owners, plan.Owner{Owner: o, Protocol: vpn.IPsec, Peers: []string{"p", "q"}})
		p.Changes = append(p.Changes, plan.Change{ID: conf, Owner: o, Action: plan.Update, After: after, Reason: "peer p moved",
			Impact: plan.ImpactReconnect, Interrupts: []string{"p"}, Attributes: []plan.Attribute{{Name: "swanctl.conf", Diff: diff}}})
		p.Access = append(p.Access, plan.Access{Gateway: o, Peer: "p", Exposure: "web", Before: &yes, After: &no, Note: "add a grant"})
		p.Refusals = append(p.Refusals, plan.Refusal{Owner: o, Message: "m"})
		p.Notices = append(p.Notices, plan.Notice{Owner: o, Message: "n"})
	}
	return p
}
