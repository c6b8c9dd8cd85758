package plan

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

const gatewayText = `kind: VPNGateway
spec:
  protocol: ipsec
  ipsec: {ike: {proposals: [a], lifetime: 8h, dpd: {delay: 30s}}}
  wireguard: {listenPort: 51820, privateKeySecretRef: {name: key, key: k}}
  exposures:
  - {name: web, target: {address: 10.0.0.1, ports: [443]}, virtualIP: auto}
  - {name: ldap, target: {address: 10.0.0.2}}
  reverseExposures:
  - {name: plc, target: {address: 192.168.0.9}}
`

const peerText = `kind: VPNPeer
metadata: {labels: {a: b}}
spec:
  gatewayRef: dc1
  ipsec:
    peer: {address: 198.51.100.1, id: one}
    remoteSubnets: [192.168.0.0/24]
    esp: {proposals: [a], lifetime: 1h}
    pskSecretRef: {name: psk, key: k}
  wireguard: {publicKey: AAA, endpoint: "h:1", address: auto, persistentKeepalive: 25}
  authorization: {exposures: [web]}
`

// TestCauses: each resource is told what moved it, and no more.
func TestCauses(t *testing.T) {
	const config, rules, role, gateway, peer = "dc1-swanctl", "dc1-nat", "role", "vpngateway", "vpnpeer"
	const nothing = "follows the manifests"
	for name, test := range map[string]struct {
		old, now string // in one of the manifests
		want     map[string]string
	}{
		"a grant":          {"exposures: [web]", "exposures: [ldap]", map[string]string{peer: "grants of plant1", config: "grants of plant1", rules: "grants of plant1", role: "rules"}},
		"a target":         {"[443]", "[8443]", map[string]string{gateway: "target of web", config: nothing, rules: "target of web", role: "rules"}},
		"a reverse target": {"192.168.0.9", "192.168.0.7", map[string]string{gateway: "target of plc", config: nothing, rules: "target of plc", role: "rules"}},
		"a target's host":  {"{address: 10.0.0.2}", "{host: ldap.acme}", map[string]string{gateway: "target of ldap", config: "target of ldap", rules: "target of ldap", role: "rules"}},
		"an exposure less": {"  - {name: ldap, target: {address: 10.0.0.2}}\n", "", map[string]string{gateway: "exposure ldap removed", config: "exposure ldap removed", rules: "exposure ldap removed", role: "rules"}},
		"a listen port":    {"51820", "51821", map[string]string{gateway: "listenPort 51820 → 51821", config: "listenPort 51820 → 51821", rules: "listenPort 51820 → 51821", role: "listenPort 51820 → 51821"}},
		"IKE proposals":    {"ike: {proposals: [a]", "ike: {proposals: [b]", map[string]string{gateway: "IKE proposals", config: "IKE proposals", rules: nothing, role: "rules"}},
		"a DPD timer":      {"30s", "10s", map[string]string{gateway: "DPD timers", config: "DPD timers", rules: nothing, role: "rules"}},
		"another key":      {"{name: psk,", "{name: psk2,", map[string]string{peer: "pre-shared key of plant1", config: "pre-shared key of plant1", rules: nothing, role: "pre-shared key of plant1"}},
		"subnets":          {"192.168.0.0/24", "192.168.7.0/24", map[string]string{peer: "subnets of plant1", config: "subnets of plant1", rules: "subnets of plant1", role: "rules"}},
		"an address":       {"198.51.100.1", "198.51.100.9", map[string]string{peer: "address of plant1", config: "address of plant1", rules: nothing, role: "rules"}},
		"a tunnel IP":      {"address: auto, p", "address: 100.64.3.200, p", map[string]string{peer: "tunnel IP of plant1", config: "tunnel IP of plant1", rules: "tunnel IP of plant1", role: "rules"}},
		"two at once":      {"id: one}\n    remoteSubnets: [192.168.0.0/24]", "id: two}\n    remoteSubnets: []", map[string]string{peer: "identity of plant1, subnets of plant1", config: "identity of plant1, subnets of plant1", rules: "subnets of plant1", role: "rules"}},
		"a label":          {"{a: b}", "{a: c}", map[string]string{peer: "its labels or annotations", config: nothing, rules: nothing, role: "rules"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := between([]site{dc1()}, []site{moved(dc1())})
			w.both(gateway, "dc1", gatewayText, replaced(gatewayText, test.old, test.now))
			w.both(peer, "plant1", peerText, replaced(peerText, test.old, test.now))
			w.both(role, "dc1", "rules: [1]\n", "rules: [2]\n")
			for _, name := range []string{config, rules} {
				w.both("configmap", name, "data: old\n", "data: new\n")
			}
			got := map[string]string{}
			for _, c := range Make(w.Input).Changes {
				switch {
				case c.ID.Kind == kindConfigMap:
					got[c.ID.Name] = c.Reason
				case c.ID.Kind == kindDeployment:
					if c.Reason != "image" {
						t.Errorf("the pod rolls for %q", c.Reason)
					}
				case c.ID.Kind != resource.KindApplied:
					got[c.ID.Kind.Short()] = c.Reason
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("reasons (-want +got):\n%s", diff)
			}
		})
	}
}

// both puts an object of dc1 on both sides.
func (w *world) both(kind, name, before, after string) {
	id := resource.ID{Kind: resource.KubernetesKind(kind), Namespace: "acme", Name: name}
	r := resource.Resource{ID: id, Owner: dc1().owner, Object: &resource.Object{Kind: kind, Name: name, Content: before}}
	w.Observed.Add(seen(r))
	r.Object = &resource.Object{Kind: kind, Name: name, Content: after}
	w.Desired.Add(r)
}

func replaced(text, old, now string) string { return strings.Replace(text, old, now, 1) }

func TestRuleMoves(t *testing.T) {
	rule := func(port int, from, why string) resource.Rule {
		r := resource.Rule{Direction: "ingress", Ether: "IPv4", Protocol: "udp", From: port, To: port, Why: why}
		if from != "" {
			r.Remote = netip.MustParsePrefix(from)
		}
		return r
	}
	for name, test := range map[string]struct {
		before, after []resource.Rule
		want          string
	}{
		"another port for everybody": {
			[]resource.Rule{rule(51820, "198.51.100.1/32", "peer x"), rule(51820, "", "peer y, peer z")},
			[]resource.Rule{rule(51821, "198.51.100.1/32", "peer x"), rule(51821, "", "peer y, peer z")},
			"port 51820 → 51821",
		},
		"another address": {
			[]resource.Rule{rule(500, "198.51.100.1/32", "peer x"), rule(4500, "198.51.100.1/32", "peer x")},
			[]resource.Rule{rule(500, "198.51.100.2/32", "peer x"), rule(4500, "198.51.100.2/32", "peer x")},
			"peer x moved",
		},
		"another port of a reverse exposure": {
			[]resource.Rule{rule(80, "10.254.0.0/24", "reverse exposure plc")}, []resource.Rule{rule(81, "10.254.0.0/24", "reverse exposure plc")},
			"target of plc",
		},
		"other callers of a reverse exposure": {
			[]resource.Rule{rule(80, "10.254.0.0/24", "reverse exposure plc")}, []resource.Rule{rule(80, "10.253.0.0/24", "reverse exposure plc")},
			"the sources of plc",
		},
		"rules that only come": {
			nil, []resource.Rule{rule(80, "10.254.0.0/24", "peer x")},
			"the rules follow the manifests",
		},
	} {
		t.Run(name, func(t *testing.T) {
			was, is := resource.Resource{SecurityGroup: &resource.SecurityGroup{Rules: test.before}}, resource.Resource{SecurityGroup: &resource.SecurityGroup{Rules: test.after}}
			c := Change{Before: &was, After: &is, Attributes: attributes(&was, &is)}
			if got := groupReason(&c); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

func TestNodeTakenOut(t *testing.T) {
	nodes := []vpn.Node{{Name: "worker-2", ServerID: "worker-2"}}
	for name, test := range map[string]struct {
		nodes []vpn.Node
		seen  string // the node's name as the cloud's driver knows it
		want  []string
	}{
		"its name is known from the pod": {
			nodes: nodes,
			want: []string{
				"~ openstack.port/acme/dc1 restart · worker-1 is no longer in spec.kubernetes.nodes · interrupts [plant1], customers []",
				"~ kubernetes.deployment/acme/dc1 restart · follows the port to worker-2 · interrupts [plant1], customers []",
			},
		},
		"its name is known": {
			nodes: nodes, seen: "worker-0",
			want: []string{
				"~ openstack.port/acme/dc1 restart · worker-0 is no longer in spec.kubernetes.nodes · interrupts [plant1], customers []",
				"~ kubernetes.deployment/acme/dc1 restart · follows the port to worker-2 · interrupts [plant1], customers []",
			},
		},
		"the node is there still": {
			nodes: append(nodes, vpn.Node{Name: "worker-1", ServerID: "worker-1"}), seen: "worker-1",
			want: []string{
				"~ openstack.port/acme/dc1 restart drift · worker-1 can no longer hold it · interrupts [plant1], customers []",
				"~ kubernetes.deployment/acme/dc1 restart drift · follows the port to worker-2 · interrupts [plant1], customers []",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := between([]site{dc1()}, []site{dc1().with(func(s *site) { s.server = "worker-2" })})
			tree(w)
			w.Estate.Kubernetes.Nodes = test.nodes
			w.edit(dc1().id(resource.KindPort), func(r *resource.Resource) {
				p := *r.Port
				p.Node = test.seen
				r.Port = &p
			})
			p := Make(w.Input)
			if diff := cmp.Diff(test.want, stories(p)); diff != "" {
				t.Errorf("changes (-want +got):\n%s", diff)
			}
			if a, _ := p.Changes[0].attribute(attrNode); a.Before == "" || a.After != "worker-2" {
				t.Errorf("the port goes from %q to %q", a.Before, a.After)
			}
		})
	}
}
