package render

import (
	"encoding/json"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/render/nat"
)

func rendered(t *testing.T, in Input) resource.Graph {
	t.Helper()
	g, problems := Gateway(in)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return g
}

func kubernetesID(kind, name string) resource.ID {
	return resource.ID{Kind: resource.KubernetesKind(kind), Namespace: "acme", Name: name}
}

func TestEveryNeedIsThereAndNoneIsCircular(t *testing.T) {
	for _, in := range []Input{acme(), globex(), initech()} {
		g := rendered(t, in)
		done := map[resource.ID]bool{}
		for range g {
			for id, r := range g {
				if !slices.ContainsFunc(r.Needs, func(n resource.ID) bool { return !done[n] }) {
					done[id] = true
				}
			}
		}
		for _, id := range g.IDs() {
			if !done[id] {
				t.Errorf("%s waits for ever for one of %v", id, g[id].Needs)
			}
			if !slices.IsSortedFunc(g[id].Needs, resource.ID.Compare) {
				t.Errorf("the needs of %s are not sorted", id)
			}
		}
	}
}

func TestBuildOrder(t *testing.T) {
	g := rendered(t, acme())
	order := []resource.ID{
		{Kind: resource.KindSecurityGroup, Namespace: "acme", Name: "dc1"}, {Kind: resource.KindPort, Namespace: "acme", Name: "dc1"},
		{Kind: resource.KindFloatingIP, Namespace: "acme", Name: "dc1"}, {Kind: resource.KindRoute, Namespace: "acme", Name: "dc1"},
		kubernetesID("ConfigMap", "dc1-nat"), kubernetesID("Deployment", "dc1"), kubernetesID("Kustomization", "dc1"),
		{Kind: resource.KindApplied, Namespace: "acme", Name: "dc1"},
	}
	for i := 1; i < len(order); i++ {
		if !slices.Contains(g[order[i]].Needs, order[i-1]) {
			t.Errorf("%s doesn't need %s", order[i], order[i-1])
		}
	}
}

// TestPodTemplateStays: whatever is edited about peers, exposures and grants, the pod
// isn't restarted.
func TestPodTemplateStays(t *testing.T) {
	templateStays(t, acme, map[string]func(*Input){
		"a peer more": func(in *Input) {
			in.Gateway.Peers = append(in.Gateway.Peers, site("plant2", "198.51.100.8", "172.16.0.0/24"))
		},
		"no peer":                 func(in *Input) { in.Gateway.Peers = nil },
		"another Secret":          func(in *Input) { in.Gateway.Peers[0].PSK.Name = "other" },
		"no exposure":             func(in *Input) { in.Gateway.Exposures = nil },
		"another host":            func(in *Input) { in.Gateway.Exposures[0].Target.Host = "other.example.org" },
		"no grant":                func(in *Input) { in.Gateway.Peers[0].Grants = &vpn.Grants{} },
		"other proposals":         func(in *Input) { in.Gateway.IKE.Proposals = []string{"aes256-sha512-ecp384"} },
		"another floating IP":     func(in *Input) { in.Gateway.FloatingIP = addr("203.0.113.99") },
		"another service CIDR":    func(in *Input) { in.Ledger.ServiceCIDR = network("100.64.8.0/24") },
		"other internal sources":  func(in *Input) { in.Estate.InternalSourceCIDRs = networks("10.7.0.0/16") },
		"no reverse exposure":     func(in *Input) { in.Gateway.ReverseExposures = nil },
		"a label of the manifest": func(in *Input) { in.Gateway.Manifests = nil },
	})
	templateStays(t, globex, map[string]func(*Input){
		"a peer more": func(in *Input) {
			in.Gateway.Peers = append(in.Gateway.Peers, vpn.Peer{
				Name: "paris", PublicKey: "xTIBA5rboUvnH4htodjb6e697QjLERt1NAB4mZqp8DQ=", Subnets: networks("192.168.41.0/24"), PresharedKey: vpn.SecretRef{Name: "p", Key: "psk"},
			})
		},
		"no peer":              func(in *Input) { in.Gateway.Peers = nil },
		"another key's Secret": func(in *Input) { in.Gateway.WireGuard.PrivateKey.Name = "other" },
		"another endpoint":     func(in *Input) { in.Gateway.Peers[0].Endpoint = "vpn.example.org:51820" },
		"another public key":   func(in *Input) { in.Gateway.Peers[0].PublicKey = in.Gateway.Peers[2].PublicKey },
		"no grant":             func(in *Input) { in.Gateway.Peers[0].Grants = &vpn.Grants{} },
		"no exposure": func(in *Input) {
			in.Gateway.Exposures, in.Gateway.Peers[0].Grants, in.Gateway.Peers[1].Grants = nil, nil, nil
		},
		"another port":    func(in *Input) { in.Gateway.WireGuard.ListenPort = 51821 },
		"another address": func(in *Input) { in.Ledger.Addresses = map[string]byte{"ina": 198} },
	})
}

// templateStays makes each change, and wants the same Deployment.
func templateStays(t *testing.T, of func() Input, changes map[string]func(*Input)) {
	t.Helper()
	g := of().Gateway
	id := resource.ID{Kind: resource.KubernetesKind("Deployment"), Namespace: g.Owner.Namespace, Name: g.Owner.Name}
	want := rendered(t, of())[id].Object.Content
	for sentence, change := range changes {
		t.Run(string(g.Protocol)+" "+sentence, func(t *testing.T) {
			in := copied(t, of())
			change(&in)
			if diff := cmp.Diff(want, rendered(t, in)[id].Object.Content); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestUnknownFactsAreNamed(t *testing.T) {
	in := acme()
	known := in.Facts.Gateway(in.Gateway.Owner.String())
	for sentence, c := range map[string]struct {
		change func(*Input)
		want   map[string][]string
	}{
		"everything is known": {func(*Input) {}, map[string][]string{}},
		"no floating IP yet": {
			func(in *Input) {
				known := known
				known.FloatingIP = netip.Addr{}
				in.Facts = facts(in.Gateway.Owner, known)
			},
			map[string][]string{"configmap/acme/dc1-swanctl": {"floating IP"}},
		},
		"a floating IP that is pinned": {
			func(in *Input) {
				known := known
				known.FloatingIP = netip.Addr{}
				in.Facts = facts(in.Gateway.Owner, known)
				in.Gateway.FloatingIP = addr("203.0.113.99")
			},
			map[string][]string{},
		},
		"no node yet": {func(in *Input) { in.Node = resource.Node{} }, map[string][]string{"deployment/acme/dc1": {"node"}}},
		"no port yet": {
			func(in *Input) {
				in.Facts = facts(in.Gateway.Owner, resource.GatewayFacts{FloatingIP: known.FloatingIP})
			},
			map[string][]string{
				"configmap/acme/dc1-nat": {"MAC address", "port address"}, "configmap/acme/dc1-swanctl": {"MAC address", "port address"},
				"networkattachmentdefinition/acme/dc1": {"MAC address", "port address"}, "deployment/acme/dc1": {"MAC address", "port address"},
			},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			in := copied(t, acme())
			c.change(&in)
			got := map[string][]string{}
			for id, r := range rendered(t, in) {
				if r.Object != nil && len(r.Object.Unknown) > 0 {
					got[strings.TrimPrefix(id.String(), "kubernetes.")] = r.Object.Unknown
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestProblemsOfAGateway(t *testing.T) {
	for sentence, c := range map[string]struct {
		change func(*Input)
		want   string
	}{
		"an identity that breaks out":     {func(in *Input) { in.Gateway.Peers[0].ID = "a } b {" }, "identity"},
		"an exposure without its address": {func(in *Input) { in.Ledger.VirtualIPs = nil }, "exposure erp has no virtual IP"},
		"a template that gives no JSON":   {func(in *Input) { in.Estate.NetworkAttachmentTemplate = "{{.MAC}}" }, "does not give JSON"},
		"a template with an unknown name": {func(in *Input) { in.Estate.NetworkAttachmentTemplate = `{"a":"{{.Mac}}"}` }, "Mac"},
		"resources of another shape":      {func(in *Input) { in.Estate.Pod.Resources = json.RawMessage(`{"limits":[]}`) }, "gatewayPod.resources"},
		"tolerations of another shape":    {func(in *Input) { in.Estate.Pod.Tolerations = json.RawMessage(`{}`) }, "gatewayPod.tolerations"},
		"a patch that can't be applied": {func(in *Input) {
			in.Estate.Patches = []vpn.Patch{{Patch: "- op: remove\n  path: /x\n", Target: json.RawMessage(`{"kind":"Deployment"}`)}}
		}, "spec.patches"},
		"a manifest that is no JSON":       {func(in *Input) { in.Gateway.Manifests[0].JSON = "{" }, "VPNGateway dc1"},
		"a manifest without metadata":      {func(in *Input) { in.Gateway.Manifests[0].JSON = `{"metadata":null}` }, "no metadata"},
		"a manifest that says nothing":     {func(in *Input) { in.Gateway.Manifests[0].JSON = "null" }, "no metadata"},
		"a namespace that leaves the tree": {func(in *Input) { in.Gateway.Owner.Namespace = ".." }, "folder"},
		"a name that leaves the tree":      {func(in *Input) { in.Gateway.Owner.Name = "a/../../b" }, "folder"},
		"a peer that leaves the tree":      {func(in *Input) { in.Gateway.Manifests[1].Name = "../x" }, "folder"},
		"reverse exposures for nobody":     {func(in *Input) { in.Estate.InternalSourceCIDRs = nil }, "internalSourceCIDRs"},
		"one peer written twice":           {func(in *Input) { in.Gateway.Manifests = append(in.Gateway.Manifests, in.Gateway.Manifests[1]) }, "twice"},
	} {
		t.Run(sentence, func(t *testing.T) {
			in := copied(t, acme())
			c.change(&in)
			_, problems := Gateway(in)
			if len(problems) == 0 || problems[0].Owner != in.Gateway.Owner || !strings.Contains(problems[0].Message, c.want) {
				t.Errorf("problems %v don't speak of %q", problems, c.want)
			}
		})
	}
}

// TestSourcesOptional: an IPsecGateway goes on without internal sources, and then its
// reverse exposures are closed.
func TestSourcesOptional(t *testing.T) {
	in := copied(t, acme())
	in.Gateway.SourcesOptional, in.Estate.InternalSourceCIDRs = true, nil
	g := rendered(t, in)
	for _, r := range g[resource.ID{Kind: resource.KindSecurityGroup, Namespace: "acme", Name: "dc1"}].SecurityGroup.Rules {
		if strings.Contains(r.Why, "scada") {
			t.Errorf("open to %s", r)
		}
	}
	table, err := nat.Parse(decode(g[kubernetesID("ConfigMap", "dc1-nat")].Object.Content).Data["nat.nft"])
	if err != nil {
		t.Fatal(err)
	}
	if grants, there := table.Set("reverse_grants"); !there || len(grants.Elements) > 0 {
		t.Errorf("granted: %v", grants.Elements)
	}
}

func TestPatchesShowInTheTree(t *testing.T) {
	in := acme()
	in.Estate.Patches = []vpn.Patch{
		{Patch: "apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata:\n  name: dc1-nic1\n$patch: delete\n"},
		{Patch: "- op: add\n  path: /metadata/annotations/a\n  value: b\n", Target: json.RawMessage(`{"kind":"Deployment"}`)},
		{Patch: "- op: remove\n  path: /spec\n", Target: json.RawMessage(`{"kind":"VPNGateway"}`)},
	}
	g := rendered(t, in)
	if _, there := g[kubernetesID("NetworkPolicy", "dc1-nic1")]; there {
		t.Error("the deleted policy is there")
	}
	if index := g[kubernetesID("Kustomization", "dc1")].Object.Content; strings.Contains(index, "networkpolicy") {
		t.Errorf("the index lists the deleted policy:\n%s", index)
	}
	if content := g[kubernetesID("Deployment", "dc1")].Object.Content; !strings.Contains(content, "\n  annotations:\n    a: b\n") {
		t.Errorf("no annotation in\n%s", content)
	}
	if content := g[kubernetesID("VPNGateway", "dc1")].Object.Content; !strings.Contains(content, "\nspec:\n") {
		t.Errorf("a patch reached a manifest:\n%s", content)
	}
}

func TestPatchesForNoObject(t *testing.T) {
	for sentence, c := range map[string]struct {
		patches []vpn.Patch
		want    string // part of the only problem; empty: none
	}{
		"one that is for one gateway alone": {[]vpn.Patch{{Patch: "spec: {}\n", Target: json.RawMessage(`{"kind":"Deployment","namespace":"acme"}`)}}, ""},
		"a slip in its target": {[]vpn.Patch{
			{Patch: "spec: {}\n", Target: json.RawMessage(`{"kind":"Deployment"}`)},
			{Patch: "spec: {}\n", Target: json.RawMessage(`{"kind":"Deployment","namespace":"acne"}`)},
		}, "spec.patches[1]"},
		"one that deletes its object":        {[]vpn.Patch{{Patch: "$patch: delete\n", Target: json.RawMessage(`{"kind":"NetworkPolicy"}`)}}, ""},
		"one for what another deleted":       {[]vpn.Patch{deleteDeployment, {Patch: "spec: {}\n", Target: json.RawMessage(`{"kind":"Deployment"}`)}}, "spec.patches[1]"},
		"one for a manifest, which is fixed": {[]vpn.Patch{{Patch: "spec: {}\n", Target: json.RawMessage(`{"kind":"VPNGateway"}`)}}, "spec.patches[0]"},
	} {
		t.Run(sentence, func(t *testing.T) {
			inputs := []Input{acme(), globex()}
			for i := range inputs {
				inputs[i].Estate.Patches = c.patches
			}
			_, got := Gateways(inputs)
			if c.want == "" && len(got) == 0 {
				return
			}
			if len(got) != 1 || c.want == "" || !strings.Contains(got[0].Message, c.want) || !got[0].Owner.IsZero() {
				t.Errorf("problems %v, want one with %q", got, c.want)
			}
		})
	}
}

var deleteDeployment = vpn.Patch{Patch: "$patch: delete\n", Target: json.RawMessage(`{"kind":"Deployment"}`)}

func TestNobodyIsBlamedBeforeAllAreRendered(t *testing.T) {
	slip := []vpn.Patch{{Patch: "spec: {}\n", Target: json.RawMessage(`{"kind":"Deployment","namespace":"globex"}`)}}
	broken := globex()
	broken.Gateway.Owner.Name, broken.Estate.Patches = "a/b", slip
	whole := acme()
	whole.Estate.Patches = slip
	if _, got := Gateways([]Input{whole, broken}); len(got) != 1 || got[0].Owner != broken.Gateway.Owner {
		t.Errorf("problems %v, want one of %s", got, broken.Gateway.Owner)
	}
	whole.Estate.Gateways = []vpn.Gateway{acme().Gateway, globex().Gateway}
	if _, got := Gateways([]Input{whole}); len(got) != 0 {
		t.Errorf("problems %v, though a gateway of the estate is not among the inputs", got)
	}
	if graph, got := Gateways(nil); len(graph)+len(got) != 0 {
		t.Errorf("%v and problems %v of nothing", graph, got)
	}
}

func TestKustomizationsAreOfTheTreeAlone(t *testing.T) {
	in := acme()
	in.Estate.Kubernetes.Target = vpn.TargetCluster
	if _, there := rendered(t, in)[kubernetesID("Kustomization", "dc1")]; there {
		t.Error("a cluster would get a kustomization")
	}
}

// TestTreeBuilds: kustomize finds every object of the gateways once, from the topmost
// file, also where a name looks like a number or there is nothing left.
func TestTreeBuilds(t *testing.T) {
	odd := acme()
	odd.Gateway.Owner.Namespace, odd.Gateway.Owner.Name = "010", "1e3"
	odd.Gateway.Manifests = manifests(odd.Gateway)
	for sentence, inputs := range map[string][]Input{
		"three gateways": {acme(), globex(), initech()}, "names like numbers": {odd}, "no gateway": nil,
	} {
		t.Run(sentence, func(t *testing.T) {
			disk, want := filesys.MakeFsInMemory(), 0
			var owners []vpn.Owner
			var all []resource.Resource
			for _, in := range inputs {
				owners = append(owners, in.Gateway.Owner)
				for _, r := range rendered(t, in) {
					if r.Object != nil {
						all = append(all, r)
					}
				}
			}
			for _, r := range append(all, Index("prod-fra1", owners)...) {
				if err := disk.WriteFile("/tree/"+r.Object.Path, []byte(r.Object.Content)); err != nil {
					t.Fatal(err)
				}
				if r.ID.Kind != resource.KindKustomization {
					want++
				}
			}
			built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(disk, "/tree")
			if err != nil {
				t.Fatal(err)
			}
			if built.Size() != want {
				t.Errorf("%d objects, want %d", built.Size(), want)
			}
		})
	}
}

func TestIndexDoesNotDependOnOrder(t *testing.T) {
	owners := []vpn.Owner{{Kind: "VPNGateway", Namespace: "a", Name: "x"}, {Kind: "VPNGateway", Namespace: "b", Name: "x"}, {Kind: "IPsecGateway", Namespace: "a", Name: "y"}}
	want := Index("prod", owners)
	for range 10 {
		rand.Shuffle(len(owners), func(i, j int) { owners[i], owners[j] = owners[j], owners[i] })
		if diff := cmp.Diff(want, Index("prod", owners)); diff != "" {
			t.Fatalf("(-want +got)\n%s", diff)
		}
	}
}
