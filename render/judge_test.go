package render

import (
	"encoding/json"
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
		"joined selectors":       {acme, func(in *Input) { in.Gateway.Peers[0].Selectors = vpn.Joined }, plan.Verdict{Impact: plan.ImpactReconnect, Interrupts: plant1}},
		"a timer":                {acme, func(in *Input) { in.Gateway.IKE.DPDDelay = time.Minute }, plan.Verdict{Impact: plan.ImpactReload}},
		"a child's timer":        {acme, func(in *Input) { in.Gateway.Peers[0].ESPLifetime = time.Hour }, plan.Verdict{Impact: plan.ImpactReload}},
		"another pre-shared key": {acme, func(in *Input) { in.Gateway.Peers[0].PSK.Name = "other" }, plan.Verdict{Impact: plan.ImpactReload}},
		"a further peer": {acme, func(in *Input) {
			in.Gateway.Peers = append(in.Gateway.Peers, site("plant2", "198.51.100.8", "172.16.0.0/24"))
		},
			plan.Verdict{Impact: plan.ImpactReload}},
		"a new exposure": {acme, func(in *Input) {
			in.Gateway.Exposures = append(in.Gateway.Exposures, vpn.Exposure{Name: "zeta", Target: vpn.Target{Address: addr("10.20.0.9"), Protocol: "tcp", Ports: []vpn.PortRange{{From: 22, To: 22}}}})
			in.Ledger.VirtualIPs = map[string]byte{"erp": 10, "web": 11, "scada": 200, "zeta": 12}
		}, plan.Verdict{}},
		"an exposure less":  {acme, func(in *Input) { in.Gateway.Exposures = in.Gateway.Exposures[1:] }, plan.Verdict{Impact: plan.ImpactReload}},
		"no peer any more":  {acme, func(in *Input) { in.Gateway.Peers = nil }, plan.Verdict{Impact: plan.ImpactReconnect, Interrupts: plant1}},
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
		"another keepalive": {globex, func(in *Input) { in.Gateway.Peers[0].Keepalive = 10 }, plan.Verdict{Impact: plan.ImpactReload}},
		"a road warrior less": {globex, func(in *Input) { in.Gateway.Peers = append(in.Gateway.Peers[:1:1], in.Gateway.Peers[2]) },
			plan.Verdict{Impact: plan.ImpactReconnect, Interrupts: []string{"ina"}}},
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

func TestJudgeOfWhatCannotBeRead(t *testing.T) {
	g, _ := Gateway(acme())
	id := resource.ID{Kind: resource.KubernetesKind("ConfigMap"), Namespace: "acme", Name: "dc1-swanctl"}
	for sentence, content := range map[string]string{
		"a file that is no YAML":     "{",
		"a file without data":        "kind: ConfigMap\n",
		"data of another shape":      "data: [1]\n",
		"connections of other words": "data:\n  swanctl.conf: include x\n",
	} {
		t.Run(sentence, func(t *testing.T) {
			before := g[id]
			before.Object = &resource.Object{Kind: "ConfigMap", Content: content}
			if got := Judge(before, g[id]); got.Impact != plan.ImpactReload {
				t.Errorf("judged %v", got)
			}
		})
	}
	if got := Judge(resource.Resource{}, g[id]); got.Impact != plan.ImpactNone {
		t.Errorf("a create is judged %v", got)
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
