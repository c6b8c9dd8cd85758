package roster

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/plan/vpn"
)

func conditions(all ...Condition) Manifest { return Manifest{Generation: 2, Conditions: all} }

func says(kind, status, reason, message string, generation int64) Condition {
	return Condition{Type: kind, Status: status, Reason: reason, Message: message, Generation: generation}
}

func TestAwait(t *testing.T) {
	ready := says("Ready", True, "Ready", "", 2)
	up, down := Report{State: "ESTABLISHED", Up: 1, Expected: 1}, Report{State: "DOWN", Expected: 1, Message: "no answer"}
	invalid := Gateway{Touched: true, Manifest: conditions(
		says("ConfigRendered", False, "RenderInputFailed", "the last good state stays: peer a: bad", 2), says("Ready", False, "RenderInputFailed", "ConfigRendered: bad", 2))}
	refused := func(generation int64) []Peer {
		return []Peer{{Name: "a", Manifest: Manifest{Generation: 2, Conditions: []Condition{says("Authorized", False, "InvalidSpec", "bad", generation)}}}}
	}
	withPeers := func(g Gateway, peers ...Peer) Gateway { g.Peers = peers; return g }
	good := Gateway{Touched: true, Manifest: conditions(ready)}
	deleted := Gateway{Touched: true, Manifest: Manifest{Deleting: noon, Conditions: []Condition{says("Ready", Unknown, "Deleting", "port: 409", 2)}}}
	leaving, gone := Peer{Name: "b", Report: down, Manifest: Manifest{Deleting: noon}}, Peer{Gateway: "g", Name: "c", Report: down}
	seen := func(generation int64) Manifest {
		return Manifest{Generation: 2, Created: noon, Conditions: []Condition{says("Authorized", True, "Authorized", "", generation)}}
	}
	ofPeers := withPeers(good)
	ofPeers.Owner.Kind = vpn.KindVPNGateway
	unseen, troubled := ofPeers, ofPeers
	unseen.Manifest = conditions(says("Ready", Unknown, "Unobserved", "can't look", 2))
	troubled.Manifest = conditions(says("Ready", False, "PeerSecretMissing", "no Secret b", 2))
	inForce := func(status, reason string, generation int64) Peer {
		return Peer{Name: "a", Manifest: Manifest{Generation: 2, Created: noon, Conditions: []Condition{says("Ready", status, reason, "", generation)}}}
	}
	reporting := func(p Peer, r Report) Peer { p.Report = r; return p }
	dying := seen(2)
	dying.Deleting = noon
	for sentence, c := range map[string]struct {
		gateway Gateway
		goal    Goal
		peer    string
		want    Verdict
	}{
		"ready":                               {good, GoalReady, "", Verdict{Met: true, Text: "ready"}},
		"ready as it was before the edit":     {Gateway{Touched: true, Manifest: conditions(says("Ready", True, "Ready", "", 1))}, GoalReady, "", Verdict{Text: "status is of an older version of the manifest (generation 1, now 2), and said True"}},
		"not looked at":                       {Gateway{}, GoalReady, "", Verdict{Text: "not looked at yet"}},
		"nobody writes conditions":            {Gateway{Touched: true}, GoalReady, "", Verdict{Text: "its status has no condition Ready: nobody writes conditions here"}},
		"not ready":                           {Gateway{Touched: true, Manifest: conditions(says("Ready", False, "EnsurePortFailed", "PortReady: quota", 2))}, GoalReady, "", Verdict{Text: "EnsurePortFailed: PortReady: quota"}},
		"not valid":                           {Gateway{Touched: true, Manifest: conditions(says("Validated", False, "InvalidSpec", "x", 2))}, GoalReady, "", Verdict{Stuck: true, Text: "InvalidSpec: x"}},
		"not valid before the edit":           {Gateway{Touched: true, Manifest: conditions(says("Validated", False, "InvalidSpec", "x", 1))}, GoalReady, "", Verdict{Text: "its status has no condition Ready: nobody writes conditions here"}},
		"no internal sources":                 {Gateway{Touched: true, Manifest: conditions(says("ConfigRendered", False, "ReverseExposuresRequireInternalSourceCIDRs", "x", 2))}, GoalTunnel, "", Verdict{Stuck: true, Text: "ReverseExposuresRequireInternalSourceCIDRs: x"}},
		"a peer is not valid":                 {withPeers(invalid, refused(2)...), GoalReady, "", Verdict{Stuck: true, Text: "RenderInputFailed: the last good state stays: peer a: bad"}},
		"a peer was not valid, and is edited": {withPeers(invalid, refused(1)...), GoalReady, "", Verdict{Text: "RenderInputFailed: ConfigRendered: bad"}},
		"a peer that isn't valid has gone":    {invalid, GoalReady, "", Verdict{Text: "RenderInputFailed: ConfigRendered: bad"}},
		"being deleted":                       {deleted, GoalReady, "", Verdict{Stuck: true, Text: "Deleting: is being deleted: port: 409"}},
		"being deleted, as is waited for":     {deleted, GoalDeleted, "", Verdict{Text: "Deleting: is being deleted: port: 409"}},
		"nobody deletes it":                   {good, GoalDeleted, "", Verdict{Text: "nobody has deleted it"}},

		"every peer was looked at":         {withPeers(ofPeers, Peer{Name: "a", Manifest: seen(2)}), GoalReady, "", Verdict{Met: true, Text: "ready"}},
		"a peer was edited":                {withPeers(ofPeers, Peer{Name: "a", Manifest: seen(1)}, Peer{Name: "b", Manifest: seen(2)}), GoalReady, "", Verdict{Text: "peer a was edited since (generation 1, now 2)"}},
		"a peer is new":                    {withPeers(ofPeers, Peer{Name: "a", Manifest: Manifest{Generation: 1, Created: noon}}), GoalReady, "", Verdict{Text: "peer a was not looked at yet"}},
		"a peer is being deleted":          {withPeers(ofPeers, Peer{Name: "a", Manifest: dying}), GoalReady, "", Verdict{Text: "peer a is being deleted"}},
		"tunnels have no status":           {withPeers(good, Peer{Name: "a", Manifest: Manifest{Created: noon}}), GoalReady, "", Verdict{Met: true, Text: "ready"}},
		"a tunnel as it was before":        {withPeers(ofPeers, Peer{Name: "a", Report: up, Manifest: seen(1)}), GoalTunnel, "", Verdict{Text: "a was edited since (generation 1, now 2)"}},
		"a named tunnel, as it was before": {withPeers(ofPeers, Peer{Name: "a", Report: up, Manifest: seen(1)}), GoalTunnel, "a", Verdict{Text: "a was edited since (generation 1, now 2)"}},

		"a peer's manifest is in force":        {withPeers(ofPeers, inForce(True, "Ready", 2)), GoalReady, "a", Verdict{Met: true, Text: "ready"}},
		"whatever its tunnel does":             {withPeers(ofPeers, reporting(inForce(True, "Ready", 2), down)), GoalReady, "a", Verdict{Met: true, Text: "ready"}},
		"but not as it was last edited":        {withPeers(ofPeers, inForce(True, "Ready", 1)), GoalReady, "a", Verdict{Text: "status is of an older version of the manifest (generation 1, now 2), and said True"}},
		"a peer's Secret is missing":           {withPeers(ofPeers, inForce(False, "PeerSecretMissing", 2)), GoalReady, "a", Verdict{Text: "PeerSecretMissing"}},
		"a peer's manifest is not valid":       {withPeers(ofPeers, inForce(False, "InvalidSpec", 2)), GoalReady, "a", Verdict{Stuck: true, Text: "InvalidSpec"}},
		"nobody knows of its gateway any more": {withPeers(unseen, inForce(Unknown, "GatewayNotReady", 2)), GoalReady, "a", Verdict{Text: "GatewayNotReady"}},
		"a gateway of another peer's trouble":  {withPeers(troubled, inForce(True, "Ready", 2)), GoalReady, "a", Verdict{Met: true, Text: "ready"}},
		"a peer that isn't there":              {ofPeers, GoalReady, "a", Verdict{Text: "has no such peer yet"}},
		"a tunnel of an IPsecGateway":          {withPeers(good, Peer{Name: "a"}), GoalReady, "a", Verdict{Stuck: true, Text: "has no manifest of its own: wait for its gateway"}},

		"every tunnel":                      {withPeers(good, Peer{Name: "a", Report: up}, Peer{Name: "b", Report: up}), GoalTunnel, "", Verdict{Met: true, Text: "2 of 2 up"}},
		"one tunnel of two":                 {withPeers(good, Peer{Name: "a", Report: up}, Peer{Name: "b", Report: down}), GoalTunnel, "", Verdict{Text: "b down: no answer"}},
		"the one that is named":             {withPeers(good, Peer{Name: "a", Report: up}, Peer{Name: "b", Report: down}), GoalTunnel, "a", Verdict{Met: true, Text: "up"}},
		"the other one":                     {withPeers(good, Peer{Name: "a", Report: up}, Peer{Name: "b", Report: down}), GoalTunnel, "b", Verdict{Text: "b down: no answer"}},
		"one that isn't there":              {withPeers(good, Peer{Name: "a", Report: up}), GoalTunnel, "c", Verdict{Text: "has no such peer yet"}},
		"no peers":                          {good, GoalTunnel, "", Verdict{Text: "has no peer yet"}},
		"road warriors aren't waited for":   {withPeers(good, Peer{Name: "a", Report: up}, Peer{Name: "b", Report: down, Roams: true}), GoalTunnel, "", Verdict{Met: true, Text: "1 of 1 up"}},
		"nor are peers that leave":          {withPeers(good, Peer{Name: "a", Report: up}, leaving, gone), GoalTunnel, "", Verdict{Met: true, Text: "1 of 1 up"}},
		"who are all there is":              {withPeers(good, leaving, gone), GoalTunnel, "", Verdict{Text: "has no peer yet"}},
		"unless they are named":             {withPeers(good, Peer{Name: "b", Report: down, Roams: true}), GoalTunnel, "b", Verdict{Text: "b down: no answer"}},
		"road warriors alone":               {withPeers(good, Peer{Name: "b", Report: down, Roams: true}), GoalTunnel, "", Verdict{Met: true, Text: "has road warriors alone, who come and go"}},
		"tunnels as before the edit":        {withPeers(Gateway{Touched: true, Manifest: conditions(says("Ready", True, "Ready", "", 1))}, Peer{Name: "a", Report: up}), GoalTunnel, "", Verdict{Text: "status is of an older version of the manifest (generation 1, now 2), and said True"}},
		"tunnels where nobody says Ready":   {withPeers(Gateway{Touched: true}, Peer{Name: "a", Report: up}), GoalTunnel, "", Verdict{Met: true, Text: "1 of 1 up"}},
		"many tunnels that are down":        {withPeers(good, many(7)...), GoalTunnel, "", Verdict{Text: "a down; b down; c down; d down; e down; and 2 more"}},
		"a tunnel of which nothing's known": {withPeers(good, Peer{Name: "a"}), GoalTunnel, "", Verdict{Text: "a unknown: its pod has reported nothing yet"}},
	} {
		if diff := cmp.Diff(c.want, c.gateway.Await(c.goal, c.peer, noon)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", sentence, diff)
		}
	}
}

func many(n int) []Peer {
	var all []Peer
	for i := range n {
		all = append(all, Peer{Name: string(rune('a' + i)), Report: Report{State: "DOWN", Expected: 1}})
	}
	return all
}

func gatewayNamed(kind, namespace, name string, peers ...string) Gateway {
	g := Gateway{Owner: vpn.Owner{Kind: kind, Namespace: namespace, Name: name}}
	for _, p := range peers {
		g.Peers = append(g.Peers, Peer{Namespace: namespace, Gateway: name, Name: p})
	}
	return g
}

func TestOnly(t *testing.T) {
	all := Cluster{
		Gateways: []Gateway{gatewayNamed(vpn.KindIPsecGateway, "acme", "dc1", "t"), gatewayNamed(vpn.KindVPNGateway, "acme", "dc1", "a", "b"), gatewayNamed(vpn.KindVPNGateway, "globex", "dc1")},
		Links:    []Link{{Name: "dc1"}}, Strays: []Peer{{Namespace: "acme", Gateway: "old", Name: "lost"}},
	}
	for sentence, c := range map[string]struct {
		names   []Name
		want    Cluster
		missing []Name
	}{
		"no name is all":                        {nil, all, nil},
		"both kinds of one name":                {[]Name{{"acme", "dc1", ""}}, Cluster{Gateways: all.Gateways[:2]}, []Name{}},
		"one peer":                              {[]Name{{"acme", "dc1", "b"}}, Cluster{Gateways: []Gateway{gatewayNamed(vpn.KindVPNGateway, "acme", "dc1", "b")}}, []Name{}},
		"a gateway, and one of its peers":       {[]Name{{"acme", "dc1", "b"}, {"acme", "dc1", ""}}, Cluster{Gateways: all.Gateways[:2]}, []Name{}},
		"a link, which isn't a gateway":         {[]Name{{"", "dc1", ""}}, Cluster{Links: all.Links}, []Name{}},
		"a peer that isn't there":               {[]Name{{"acme", "dc1", "c"}}, Cluster{}, []Name{{"acme", "dc1", "c"}}},
		"a peer whose gateway isn't there":      {[]Name{{"acme", "old", "lost"}}, Cluster{Strays: all.Strays}, []Name{}},
		"a gateway that isn't there, by a peer": {[]Name{{"acme", "old", ""}}, Cluster{}, []Name{{"acme", "old", ""}}},
		"a gateway that isn't there and a one":  {[]Name{{"x", "y", ""}, {"globex", "dc1", ""}}, Cluster{Gateways: all.Gateways[2:]}, []Name{{"x", "y", ""}}},
	} {
		got, missing := all.Only(c.names)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", sentence, diff)
		}
		for _, n := range c.names {
			if all.Astray(n) != (len(c.want.Strays) > 0) {
				t.Errorf("%s: %s astray: %v", sentence, n, all.Astray(n))
			}
		}
		if diff := cmp.Diff(c.missing, missing); diff != "" {
			t.Errorf("%s: missing (-want +got):\n%s", sentence, diff)
		}
	}
}

func TestParseName(t *testing.T) {
	for text, c := range map[string]struct {
		namespace string
		want      Name
		wrong     string
	}{
		"acme/dc1":        {"", Name{"acme", "dc1", ""}, ""},
		"acme/dc1/plant1": {"", Name{"acme", "dc1", "plant1"}, ""},
		"north":           {"", Name{"", "north", ""}, ""},
		"dc1":             {"acme", Name{"acme", "dc1", ""}, ""},
		"acme/dc2":        {"acme", Name{"acme", "dc2", ""}, ""},
		"globex/dc1":      {"acme", Name{}, "globex/dc1 is not in the namespace acme, to which -n keeps"},
		"":                {"acme", Name{}, `"" is no name of a gateway: NAMESPACE/NAME`},
		"acme/":           {"", Name{}, `"acme/" is no name of a gateway: NAMESPACE/NAME`},
		"a/b/c/d":         {"", Name{}, `"a/b/c/d" is no name of a gateway: NAMESPACE/NAME`},
	} {
		got, err := ParseName(text, c.namespace)
		said := ""
		if err != nil {
			said = err.Error()
		}
		if got != c.want || said != c.wrong {
			t.Errorf("%q in %q: %v, %q", text, c.namespace, got, said)
		}
		if err == nil && c.namespace == "" && got.String() != text {
			t.Errorf("%q is spelt %q", text, got)
		}
	}
}

// TestWaitedForIsShown: what wait takes for ready, status shows as ready, at any age.
func TestWaitedForIsShown(t *testing.T) {
	for _, status := range []string{True, False, Unknown, "odd", ""} {
		for _, generation := range []int64{0, 1, 2, 3} {
			for _, touched := range []bool{true, false} {
				for _, deleting := range []time.Time{{}, noon} {
					g := Gateway{Touched: touched, Manifest: conditions(says("Ready", status, "R", "m", generation))}
					g.Deleting = deleting
					if got, want := g.Await(GoalReady, "", noon).Met, g.Ready().Word == Yes; got != want {
						t.Errorf("%s of %d, touched %v, deleting %v: wait %v, status %s", status, generation, touched, deleting, got, g.Ready().Word)
					}
				}
			}
		}
	}
}
