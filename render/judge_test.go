package render

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// judged is the sum of the verdicts over all objects that differ.
func judged(t *testing.T, before, after Input) plan.Verdict {
	t.Helper()
	a, problems := Gateway(before)
	b, more := Gateway(after)
	if len(problems)+len(more) > 0 {
		t.Fatal(problems, more)
	}
	var all verdicts
	for _, id := range b.IDs() {
		if was, there := a[id]; there && was.Object != nil && was.Object.Content != b[id].Object.Content {
			all = append(all, Judge(was, b[id]))
		}
	}
	return all.sum()
}

func copied(t *testing.T, in Input) Input {
	t.Helper()
	data, err := json.Marshal(in.Gateway)
	if err != nil {
		t.Fatal(err)
	}
	in.Gateway = vpn.Gateway{}
	if err := json.Unmarshal(data, &in.Gateway); err != nil {
		t.Fatal(err)
	}
	return in
}

func TestWhatAChangeDoes(t *testing.T) {
	plant1, sites := []string{"plant1"}, []string{"berlin", "ina", "oslo"}
	for sentence, c := range map[string]struct {
		of     func() Input
		change func(*Input)
		want   plan.Verdict
	}{
		"nothing": {acme, func(*Input) {}, plan.Verdict{}},
		"another floating IP": {acme, func(in *Input) { in.Gateway.FloatingIP = addr("203.0.113.99") },
			plan.Verdict{Impact: plan.ImpactCustomer, Interrupts: plant1, Customers: plant1}},
		"a floating IP that is not known yet": {acme, func(in *Input) { in.Facts = facts(in.Gateway.Owner, resource.GatewayFacts{}) },
			plan.Verdict{Impact: plan.ImpactCustomer, Interrupts: plant1, Customers: plant1}},
		"another service CIDR": {acme, func(in *Input) { in.Ledger.ServiceCIDR = network("100.64.4.0/24") },
			plan.Verdict{Impact: plan.ImpactCustomer, Interrupts: plant1, Customers: plant1}},
		"another identity of a peer": {acme, func(in *Input) { in.Gateway.Peers[0].ID = "other" },
			plan.Verdict{Impact: plan.ImpactCustomer, Interrupts: plant1, Customers: plant1}},
		"another address of a peer": {acme, func(in *Input) { in.Gateway.Peers[0].Address = addr("198.51.100.9") },
			plan.Verdict{Impact: plan.ImpactReconnect, Interrupts: plant1}},
		"other IKE proposals": {acme, func(in *Input) { in.Gateway.IKE.Proposals = []string{"aes256-sha512-ecp384"} },
			plan.Verdict{Impact: plan.ImpactReconnect, Interrupts: plant1}},
		"other ESP proposals": {acme, func(in *Input) { in.Gateway.Peers[0].ESPProposals = []string{"aes256-sha512-ecp384"} },
			plan.Verdict{Impact: plan.ImpactReconnect, Interrupts: plant1}},
		"a further subnet": {acme, func(in *Input) {
			in.Gateway.Peers[0].Subnets = networks("192.168.10.0/24", "192.168.20.0/24", "192.168.30.0/24")
		},
			plan.Verdict{Impact: plan.ImpactReconnect, Interrupts: plant1}},
		"joined selectors": {acme, func(in *Input) { in.Gateway.Peers[0].Selectors = vpn.Joined }, plan.Verdict{Impact: plan.ImpactReconnect, Interrupts: plant1}},
		"a timer":          {acme, func(in *Input) { in.Gateway.IKE.DPDDelay = time.Minute }, plan.Verdict{Impact: plan.ImpactReload}},
		"a child's timer":  {acme, func(in *Input) { in.Gateway.Peers[0].ESPLifetime = time.Hour }, plan.Verdict{Impact: plan.ImpactReload}},
		"another pre-shared key": {acme, func(in *Input) { in.Gateway.Peers[0].PSK.Name = "other" },
			plan.Verdict{Impact: plan.ImpactCustomer, Interrupts: plant1, Customers: plant1}},
		"another key of the same Secret": {acme, func(in *Input) { in.Gateway.Peers[0].PSK.Key = "other" },
			plan.Verdict{Impact: plan.ImpactCustomer, Interrupts: plant1, Customers: plant1}},
		"a further peer": {acme, func(in *Input) {
			in.Gateway.Peers = append(in.Gateway.Peers, site("plant2", "198.51.100.8", "172.16.0.0/24"))
		},
			plan.Verdict{Impact: plan.ImpactReload}},
		"a new exposure": {acme, func(in *Input) {
			in.Gateway.Exposures = append(in.Gateway.Exposures, vpn.Exposure{Name: "zeta", Target: vpn.Target{Address: addr("10.20.0.9"), Protocol: "tcp", Ports: []vpn.PortRange{{From: 22, To: 22}}}})
			in.Ledger.VirtualIPs = map[string]byte{"erp": 10, "web": 11, "scada": 200, "zeta": 12}
		}, plan.Verdict{}},
		"an exposure less": {acme, func(in *Input) { in.Gateway.Exposures = in.Gateway.Exposures[1:] }, plan.Verdict{Impact: plan.ImpactReload}},
		"no peer any more": {acme, func(in *Input) { in.Gateway.Peers = nil },
			plan.Verdict{Impact: plan.ImpactCustomer, Interrupts: plant1, Customers: plant1}},
		"another target":    {acme, func(in *Input) { in.Gateway.Exposures[1].Target.Address = addr("10.20.0.6") }, plan.Verdict{Impact: plan.ImpactReload}},
		"no grant any more": {acme, func(in *Input) { in.Gateway.Peers[0].Grants = &vpn.Grants{} }, plan.Verdict{Impact: plan.ImpactReload}},
		"another image":     {acme, func(in *Input) { in.Estate.Pod.Image = "other:1" }, plan.Verdict{Impact: plan.ImpactRestart}},
		"another node":      {acme, func(in *Input) { in.Node.Name = "worker-9" }, plan.Verdict{Impact: plan.ImpactRestart}},
		"another port": {acme, func(in *Input) {
			known := in.Facts.Gateway(in.Gateway.Owner.String())
			known.MAC = "fa:16:3e:00:00:99"
			in.Facts = facts(in.Gateway.Owner, known)
		}, plan.Verdict{Impact: plan.ImpactRestart}},
		"a label of a manifest": {acme, func(in *Input) { in.Gateway.Manifests[0].JSON = `{"metadata":{"name":"dc1","labels":{"a":"b"}}}` }, plan.Verdict{}},

		"another listen port": {globex, func(in *Input) { in.Gateway.WireGuard.ListenPort = 51821 },
			plan.Verdict{Impact: plan.ImpactCustomer, Interrupts: sites, Customers: sites}},
		"another private key": {globex, func(in *Input) { in.Gateway.WireGuard.PrivateKey.Name = "other" },
			plan.Verdict{Impact: plan.ImpactCustomer, Interrupts: sites, Customers: sites}},
		"another endpoint": {globex, func(in *Input) { in.Gateway.Peers[0].Endpoint = "198.51.100.31:51820" },
			plan.Verdict{Impact: plan.ImpactReconnect, Interrupts: []string{"berlin"}}},
		"another tunnel address": {globex, func(in *Input) { in.Ledger.Addresses = map[string]byte{"ina": 198} },
			plan.Verdict{Impact: plan.ImpactReconnect, Interrupts: []string{"ina"}}},
		"a pre-shared key where there was none": {globex, func(in *Input) { in.Gateway.Peers[2].PresharedKey = vpn.SecretRef{Name: "oslo-psk", Key: "psk"} },
			plan.Verdict{Impact: plan.ImpactCustomer, Interrupts: []string{"oslo"}, Customers: []string{"oslo"}}},
		"another pre-shared key of a WireGuard peer": {globex, func(in *Input) { in.Gateway.Peers[0].PresharedKey.Name = "other" },
			plan.Verdict{Impact: plan.ImpactCustomer, Interrupts: []string{"berlin"}, Customers: []string{"berlin"}}},
		"no pre-shared key any more": {globex, func(in *Input) { in.Gateway.Peers[0].PresharedKey = vpn.SecretRef{} },
			plan.Verdict{Impact: plan.ImpactCustomer, Interrupts: []string{"berlin"}, Customers: []string{"berlin"}}},
		"another public key of a peer": {globex, func(in *Input) { in.Gateway.Peers[0].PublicKey = in.Gateway.Peers[1].PublicKey },
			plan.Verdict{Impact: plan.ImpactCustomer, Interrupts: []string{"berlin"}, Customers: []string{"berlin"}}},
		"another keepalive": {globex, func(in *Input) { in.Gateway.Peers[0].Keepalive = 10 }, plan.Verdict{Impact: plan.ImpactReload}},
		"a road warrior less": {globex, func(in *Input) { in.Gateway.Peers = append(in.Gateway.Peers[:1:1], in.Gateway.Peers[2]) },
			plan.Verdict{Impact: plan.ImpactCustomer, Interrupts: []string{"ina"}, Customers: []string{"ina"}}},
	} {
		t.Run(sentence, func(t *testing.T) {
			after := copied(t, c.of())
			c.change(&after)
			got := judged(t, c.of(), after)
			if got.Impact >= plan.ImpactReconnect && got.Consequence == "" {
				t.Error("nothing is said about it")
			}
			got.Consequence = ""
			if diff := cmp.Diff(c.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestAPreSharedKeyIsSaidToTakeEffect(t *testing.T) {
	for sentence, c := range map[string]struct {
		of   func() Input
		key  func(*vpn.Peer) *vpn.SecretRef
		want string
	}{
		"ipsec":     {acme, func(p *vpn.Peer) *vpn.SecretRef { return &p.PSK }, "must use the pre-shared key of Secret other, key psk: else its tunnel fails at the next re-authentication"},
		"wireguard": {globex, func(p *vpn.Peer) *vpn.SecretRef { return &p.PresharedKey }, "must use the pre-shared key of Secret other, key psk"},
	} {
		t.Run(sentence, func(t *testing.T) {
			after := copied(t, c.of())
			*c.key(&after.Gateway.Peers[0]) = vpn.SecretRef{Name: "other", Key: "psk"}
			if got := judged(t, c.of(), after).Consequence; !strings.Contains(got, c.want) {
				t.Errorf("%q does not say %q", got, c.want)
			}
		})
	}
}

func TestJudgeOfWhatCannotBeRead(t *testing.T) {
	for sentence, c := range map[string]struct {
		of      func() Input
		name    string
		content string
		peers   []string
	}{
		"a file that is no YAML":               {acme, "dc1-swanctl", "{", []string{"plant1"}},
		"a file without data":                  {acme, "dc1-swanctl", "kind: ConfigMap\n", []string{"plant1"}},
		"data of another shape":                {acme, "dc1-swanctl", "data: [1]\n", []string{"plant1"}},
		"connections of other words":           {acme, "dc1-swanctl", "data:\n  swanctl.conf: include x\n", []string{"plant1"}},
		"connections that were emptied":        {acme, "dc1-swanctl", "data:\n  swanctl.conf: \"\"\n", []string{"plant1"}},
		"a WireGuard file of other words":      {globex, "remote-wireguard", "data:\n  wg0.conf: PostUp = x\n", []string{"berlin", "ina", "oslo"}},
		"a ConfigMap without a WireGuard file": {globex, "remote-wireguard", "data: {}\n", []string{"berlin", "ina", "oslo"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			in := c.of()
			g, _ := Gateway(in)
			now, there := g[resource.ID{Kind: resource.KubernetesKind("ConfigMap"), Namespace: in.Gateway.Owner.Namespace, Name: c.name}]
			if !there {
				t.Fatalf("no %s", c.name)
			}
			before := now
			before.Object = &resource.Object{Kind: "ConfigMap", Content: c.content}
			for why, got := range map[string]plan.Verdict{
				"what is in force now can't be read": Judge(before, now), "what comes can't be read back": Judge(now, before),
			} {
				if got.Impact != plan.ImpactReconnect || !slices.Equal(got.Interrupts, c.peers) || !strings.Contains(got.Consequence, why) {
					t.Errorf("judged %+v, want the reconnect of %v: %s", got, c.peers, why)
				}
			}
		})
	}
}

func TestJudgeOfWhatComesAndGoes(t *testing.T) {
	g, _ := Gateway(acme())
	deployment := resource.ID{Kind: resource.KubernetesKind("Deployment"), Namespace: "acme", Name: "dc1"}
	named := func(kind, name string) resource.Resource {
		r, there := g[resource.ID{Kind: resource.KubernetesKind(kind), Namespace: "acme", Name: name}]
		if !there {
			t.Fatalf("no %s %s", kind, name)
		}
		return r
	}
	edited := func(old, text string) resource.Resource {
		r := g[deployment]
		o := *r.Object
		if o.Content = strings.Replace(o.Content, old, text, 1); o.Content == r.Object.Content {
			t.Fatalf("no %q in the Deployment", old)
		}
		r.Object = &o
		return r
	}
	none, stopped := resource.Resource{}, edited("replicas: 1\n", "replicas: 0\n")
	for sentence, c := range map[string]struct {
		before, after resource.Resource
		want          plan.Impact
		says          string
	}{
		"a create":                            {none, g[deployment], plan.ImpactNone, ""},
		"no pod any more":                     {g[deployment], stopped, plan.ImpactRestart, "until it is back"},
		"a pod again":                         {stopped, g[deployment], plan.ImpactNone, ""},
		"another image while there is no pod": {edited("replicas: 1\n", "replicas: 0\n"), edited("image: ", "image: x"), plan.ImpactRestart, "rolls"},
		"another history":                     {g[deployment], edited("revisionHistoryLimit: 3\n", "revisionHistoryLimit: 4\n"), plan.ImpactNone, ""},
		"the Deployment goes":                 {g[deployment], none, plan.ImpactRestart, "until it is back"},
		"the attachment goes":                 {named("NetworkAttachmentDefinition", "dc1"), none, plan.ImpactRestart, "can't start again"},
		"a ConfigMap goes":                    {named("ConfigMap", "dc1-nat"), none, plan.ImpactRestart, "can't start again"},
		"the NetworkPolicy goes":              {named("NetworkPolicy", "dc1-nic1"), none, plan.ImpactNone, ""},
		"a manifest goes":                     {named("VPNPeer", "plant1"), none, plan.ImpactNone, ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			got := Judge(c.before, c.after)
			if got.Impact != c.want || !strings.Contains(got.Consequence, c.says) {
				t.Errorf("judged %+v, want %s and %q", got, c.want, c.says)
			}
		})
	}
}

func TestBeforeIsWhatTheTreeGrants(t *testing.T) {
	observed := resource.Graph{}
	for _, in := range []Input{acme(), globex()} {
		g, _ := Gateway(in)
		observed.Merge(g)
	}
	want := map[string]map[string]vpn.Access{
		"VPNGateway/acme/dc1": {"plant1": {Exposures: []string{"erp", "web"}, ReverseExposures: []string{"scada"}, Default: true}},
		"VPNGateway/globex/remote": {
			"berlin": {Exposures: []string{"dns", "files"}}, "ina": {Exposures: []string{"dns"}}, "oslo": {},
		},
	}
	if diff := cmp.Diff(want, Before(observed)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestBeforeLeavesOutWhatCannotBeRead(t *testing.T) {
	g, _ := Gateway(acme())
	id := resource.ID{Kind: resource.KubernetesKind("ConfigMap"), Namespace: "acme", Name: "dc1-swanctl"}
	good := g[id].Object.Content
	agent, there := value(good, "agent.json")
	if !there {
		t.Fatal("no agent.json")
	}
	flow, _ := json.Marshal(agent)
	for sentence, c := range map[string]struct {
		content string
		want    int
	}{
		"as written":                    {good, 1},
		"the same in another YAML form": {"kind: ConfigMap\ndata: {\"agent.json\": " + string(flow) + "}\n", 1},
		"another gateway's file":        {"data:\n  agent.json: |\n    {\"version\": \"vpnctl.bnerd.net/agent/v1\", \"gateway\": \"VPNGateway/acme/dc2\"}\n", 0},
		"another version":               {"data:\n  agent.json: |\n    {\"version\": \"v2\", \"gateway\": \"VPNGateway/acme/dc1\"}\n", 0},
		"half a file":                   {"data:\n  agent.json: |\n    {\"version\":\n", 0},
		"no file":                       {"data: {}\n", 0},
	} {
		t.Run(sentence, func(t *testing.T) {
			r := g[id]
			r.Object = &resource.Object{Kind: "ConfigMap", Content: c.content}
			if got := Before(resource.Graph{id: r}); len(got) != c.want {
				t.Errorf("%d gateways, want %d", len(got), c.want)
			}
		})
	}
}
