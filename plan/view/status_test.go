package view

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/plan/roster"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

func ago(d time.Duration) time.Time { return noon.Add(-d) }

const day = 24 * time.Hour

// readyGateway is a gateway that is ready.
func readyGateway(edits ...func(*roster.Gateway)) roster.Gateway {
	g := roster.Gateway{
		Owner: dc1, Protocol: vpn.IPsec, Touched: true, Address: "203.0.113.20", ServiceCIDR: "100.64.3.0/24", FixedAddress: "10.0.0.14", Node: "worker-2",
		Reported: ago(time.Minute),
		Manifest: roster.Manifest{Generation: 2, Created: ago(41 * day), Conditions: []roster.Condition{
			{Type: "Allocated", Status: roster.True, Reason: "Allocated", Since: ago(41 * day), Generation: 2},
			{Type: "Ready", Status: roster.True, Reason: "Ready", Since: ago(2 * time.Hour), Generation: 2},
		}},
		Peers: []roster.Peer{
			sitePeer("plant1", roster.Report{State: "ESTABLISHED", Up: 1, Expected: 1, Since: ago(192 * time.Minute), In: 1288490189, Out: 880803840, RekeyAt: noon.Add(22 * time.Minute)}),
			sitePeer("plant2", roster.Report{State: "DOWN", Expected: 1, Since: ago(18 * time.Minute), Message: "AUTHENTICATION_FAILED: the other side has another key"}),
		},
	}
	for _, edit := range edits {
		edit(&g)
	}
	return g
}

func sitePeer(name string, r roster.Report) roster.Peer {
	r.At = ago(time.Minute)
	return roster.Peer{Namespace: "acme", Gateway: "dc1", Name: name, Report: r, Manifest: roster.Manifest{Generation: 1, Created: ago(41 * day),
		Conditions: []roster.Condition{{Type: "Authorized", Status: roster.True, Reason: "Authorized", Since: ago(41 * day), Generation: 1}}}}
}

func shownAs(g ...roster.Gateway) roster.Cluster { return roster.Cluster{Gateways: g} }

func TestStatus(t *testing.T) {
	untouched := readyGateway(func(g *roster.Gateway) {
		*g = roster.Gateway{Owner: g.Owner, Protocol: g.Protocol, Manifest: roster.Manifest{Generation: 1, Created: ago(5 * time.Second)}}
	})
	outdated := readyGateway(func(g *roster.Gateway) { g.Generation = 3 })
	edited := readyGateway(func(g *roster.Gateway) { g.Peers[0].Generation = 2 })
	deleting := readyGateway(func(g *roster.Gateway) {
		g.Deleting = ago(3 * time.Minute)
		g.Conditions[1] = roster.Condition{Type: "Ready", Status: roster.Unknown, Reason: "Deleting", Message: "openstack.port/acme/dc1: 409 port is in use", Since: ago(2 * time.Minute), Generation: 2}
	})
	unavailable := readyGateway(func(g *roster.Gateway) {
		g.Reported = ago(10 * time.Minute)
		for i := range g.Peers {
			g.Peers[i].Report.At = ago(10 * time.Minute)
		}
		g.Conditions = []roster.Condition{
			{Type: "DeploymentReady", Status: roster.False, Reason: "DeploymentUnavailable", Message: "charon: CrashLoopBackOff", Since: ago(9 * time.Minute), Generation: 2},
			{Type: "Ready", Status: roster.False, Reason: "DeploymentUnavailable", Message: "DeploymentReady: charon: CrashLoopBackOff", Since: ago(9 * time.Minute), Generation: 2},
		}
	})
	wireguard := readyGateway(func(g *roster.Gateway) {
		g.Owner = vpn.Owner{Kind: vpn.KindVPNGateway, Namespace: "globex", Name: "remote"}
		g.Protocol, g.PublicKey = vpn.WireGuard, "fE/wdxzl0klVp/IR8UcaoGUMjqaWi3jAd7KzHKFS6Ds="
		g.VirtualIPs = []roster.VirtualIP{{Name: "erp", IP: "100.64.3.10"}, {Name: "mes", IP: "100.64.3.200", Reverse: true}}
		g.Conditions = append(g.Conditions, roster.Condition{Type: "SecurityGroupScoped", Status: roster.False, Reason: "HostnameEndpointOpensPort", Message: "the port is open to everyone", Since: ago(time.Hour), Generation: 2})
		g.Peers = []roster.Peer{
			sitePeer("ina", roster.Report{State: "DOWN", Expected: 1, LastHandshake: ago(3 * day)}),
			sitePeer("site", roster.Report{State: "ESTABLISHED", Up: 1, Expected: 1, Since: ago(2 * day), LastHandshake: ago(40 * time.Second), In: 1023, Out: 10 << 20}),
			sitePeer("was", roster.Report{State: "ESTABLISHED", Up: 1, Expected: 1, Since: ago(2 * day), LastHandshake: ago(50 * time.Second)}),
		}
		g.Peers[0].Conditions = []roster.Condition{{Type: "Authorized", Status: roster.False, Reason: "NoGrants", Message: "add spec.authorization", Since: ago(time.Hour), Generation: 1}}
		g.Peers[1].Deleting = ago(time.Minute)
		g.Peers[2].Manifest = roster.Manifest{}
	})
	silent := readyGateway(func(g *roster.Gateway) {
		g.Protocol, g.Reported = vpn.WireGuard, ago(59*time.Minute)
		g.Peers = []roster.Peer{sitePeer("site", roster.Report{State: "ESTABLISHED", Up: 1, Expected: 1, Since: ago(2 * day), LastHandshake: ago(time.Hour)})}
		g.Peers[0].Report.At = ago(59 * time.Minute)
	})
	crowd := readyGateway(func(g *roster.Gateway) {
		for i := range 30 {
			g.Peers = append(g.Peers, sitePeer(fmt.Sprintf("site%02d", i), roster.Report{State: "REKEYING", Up: 3, Expected: 3, Since: ago(time.Hour)}))
		}
		g.Peers = append(g.Peers, sitePeer("zpart", roster.Report{State: "ESTABLISHED", Up: 2, Expected: 3, Since: ago(time.Hour), Message: "10.0.3.0/24: no proposal chosen"}),
			sitePeer("zunknown", roster.Report{State: "UNKNOWN", Expected: 1, Since: ago(time.Minute), Message: "charon doesn't answer"}),
			sitePeer("zz", roster.Report{State: "CONNECTING", Expected: 1, Since: ago(3 * time.Second)}))
	})
	hostileNames := readyGateway(func(g *roster.Gateway) {
		evil := "\x1b[31mx\r\n\u202e"
		g.Owner.Name, g.Owner.Namespace, g.Address, g.Node, g.ServiceCIDR = evil, evil, evil, evil, evil
		g.Conditions = []roster.Condition{{Type: evil, Status: evil, Reason: evil, Message: evil}}
		g.VirtualIPs = []roster.VirtualIP{{Name: evil, IP: evil}}
		g.Peers = []roster.Peer{sitePeer(evil, roster.Report{State: evil, Expected: 1, Message: evil})}
	})
	links := roster.Cluster{
		Links:  []roster.Link{{Name: "north", Router: "north", CIDR: "10.40.0.0/16", Manifest: roster.Manifest{Created: ago(day)}}},
		Strays: []roster.Peer{{Namespace: "acme", Gateway: "dc9", Name: "lost"}},
	}
	for name, c := range map[string]struct {
		cluster roster.Cluster
		o       StatusOptions
	}{
		"a gateway with a tunnel that is down":    {shownAs(readyGateway()), StatusOptions{}},
		"one that nobody has looked at":           {shownAs(untouched), StatusOptions{}},
		"the last edit was not looked at":         {shownAs(outdated), StatusOptions{}},
		"all conditions with the last edit not":   {shownAs(outdated), StatusOptions{All: true}},
		"a peer was edited since":                 {shownAs(edited), StatusOptions{}},
		"one that is being deleted":               {shownAs(deleting), StatusOptions{}},
		"a pod without availability is unknown":   {shownAs(unavailable), StatusOptions{}},
		"a pod that is silent is unknown":         {shownAs(silent), StatusOptions{}},
		"wireguard and road warriors":             {shownAs(wireguard), StatusOptions{}},
		"wide":                                    {shownAs(readyGateway(), wireguard), StatusOptions{Wide: true}},
		"colour marks what words say":             {shownAs(readyGateway(), deleting, unavailable), StatusOptions{Color: true}},
		"many peers that are up are counted":      {shownAs(crowd), StatusOptions{}},
		"many peers that are all shown":           {shownAs(crowd), StatusOptions{All: true}},
		"hostile names stay in their place":       {shownAs(hostileNames), StatusOptions{Wide: true, All: true}},
		"a narrow terminal leaves columns out":    {shownAs(readyGateway(), unavailable), StatusOptions{Width: 60}},
		"a very narrow terminal":                  {shownAs(unavailable), StatusOptions{Width: 30}},
		"links and peers without a gateway":       {links, StatusOptions{}},
		"links below gateways":                    {roster.Cluster{Gateways: shownAs(untouched).Gateways, Links: links.Links}, StatusOptions{}},
		"nobody writes conditions, tunnels stand": {shownAs(readyGateway(func(g *roster.Gateway) { g.Conditions = nil })), StatusOptions{}},
	} {
		t.Run(name, func(t *testing.T) {
			c.o.Now = noon
			var out bytes.Buffer
			if err := Status(&out, c.cluster, c.o); err != nil {
				t.Fatal(err)
			}
			golden(t, "status_"+strings.ReplaceAll(strings.ReplaceAll(name, " ", "_"), ",", "")+".txt", out.Bytes())
			for line := range strings.Lines(out.String()) {
				if !c.o.Color && strings.TrimRight(line, "\n") != Plain(strings.TrimRight(line, "\n")) {
					t.Errorf("a line isn't harmless: %q", line)
				}
			}
		})
	}
}

// TestNews: what people want to hear of is told once, figures and times never.
func TestNews(t *testing.T) {
	var n News
	if got := n.Since(shownAs(readyGateway()), nil, noon); len(got) != 3 {
		t.Errorf("at first %q was told", got)
	}
	for _, step := range []struct {
		sentence string
		edit     func(*roster.Gateway)
		missing  []roster.Name
		want     []string
	}{
		{"nothing has changed", func(*roster.Gateway) {}, nil, nil},
		{"figures move", func(g *roster.Gateway) { g.Peers[0].Report.In++; g.Peers[0].Report.RekeyAt = noon.Add(time.Hour) }, nil, nil},
		{"a tunnel comes up", func(g *roster.Gateway) {
			g.Peers[1].Report = roster.Report{State: "ESTABLISHED", Up: 1, Expected: 1, At: noon}
		}, nil, []string{"acme/dc1/plant2 up"}},
		{"and goes down", func(*roster.Gateway) {}, nil, []string{"acme/dc1/plant2 down: AUTHENTICATION_FAILED: the other side has another key"}},
		{"a peer is edited", func(g *roster.Gateway) { g.Peers[1].Generation = 2 }, nil, []string{
			"acme/dc1 ready: unknown: peer plant2 was edited since (generation 1, now 2), 203.0.113.20, on worker-2"}},
		{"and looked at", func(*roster.Gateway) {}, nil, []string{"acme/dc1 ready: yes, 203.0.113.20, on worker-2"}},
		{"a peer goes", func(g *roster.Gateway) { g.Peers = g.Peers[:1] }, nil, []string{"acme/dc1/plant2 is gone"}},
		{"and comes back, the node is another one", func(g *roster.Gateway) { g.Node = "worker-3" }, nil, []string{
			"acme/dc1 ready: yes, 203.0.113.20, on worker-3", "acme/dc1/plant2 down: AUTHENTICATION_FAILED: the other side has another key"}},
		{"a name that isn't there", func(g *roster.Gateway) { g.Node = "worker-3" }, []roster.Name{{Namespace: "acme", Name: "dc2"}}, []string{"acme/dc2 is not in the cluster"}},
		{"not ready", func(g *roster.Gateway) {
			g.Conditions[1] = roster.Condition{Type: "Ready", Status: roster.False, Reason: "EnsurePortFailed", Message: "PortReady: no more addresses"}
		}, []roster.Name{{Namespace: "acme", Name: "dc2"}}, []string{"acme/dc1 ready: no: EnsurePortFailed: PortReady: no more addresses, 203.0.113.20, on worker-2"}},
	} {
		if diff := cmp.Diff(step.want, n.Since(shownAs(readyGateway(step.edit)), step.missing, noon)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step.sentence, diff)
		}
	}
}

func TestScreen(t *testing.T) {
	for sentence, c := range map[string]struct {
		text   string
		height int
		want   string
	}{
		"what fits":             {"a\nb\n", 5, "\x1b[?7l\x1b[Ha\x1b[K\nb\x1b[K\n\x1b[J\x1b[?7h"},
		"what doesn't":          {"a\nb\nc\nd\n", 4, "\x1b[?7l\x1b[Ha\x1b[K\nb\x1b[K\nand 2 more lines\x1b[K\n\x1b[J\x1b[?7h"},
		"a height not known of": {"a\nb\nc\n", 0, "\x1b[?7l\x1b[Ha\x1b[K\nb\x1b[K\nc\x1b[K\n\x1b[J\x1b[?7h"},
	} {
		if diff := cmp.Diff(c.want, Screen(c.text, c.height)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", sentence, diff)
		}
	}
}

func TestFiguresForPeople(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 1023: "1023 B", 1024: "1.0 KiB", 10188: "9.9 KiB", 10189: "10 KiB", 1048063: "1023 KiB", 1048064: "1.0 MiB", 1288490189: "1.2 GiB", 1 << 62: "4.0 EiB"} {
		if got := amount(n); got != want {
			t.Errorf("%d bytes: %s, want %s", n, got, want)
		}
	}
	for d, want := range map[time.Duration]string{-time.Hour: "0s", 59 * time.Second: "59s", time.Minute: "1m", 59*time.Minute + 59*time.Second: "59m",
		time.Hour: "1h00m", 23*time.Hour + 59*time.Minute: "23h59m", day: "1d", 41 * day: "41d"} {
		if got := age(d); got != want {
			t.Errorf("%s: %s, want %s", d, got, want)
		}
	}
}
