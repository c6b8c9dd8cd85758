package render

import (
	"reflect"

	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/render/wgconf"
)

// judgeInterface compares two WireGuard files.
func judgeInterface(before, after string) plan.Verdict {
	old, _ := wgconf.Parse(before)
	now, err := wgconf.Parse(after)
	if err != nil {
		return plan.Verdict{Impact: plan.ImpactReload}
	}
	var all verdicts
	for _, p := range now.Peers {
		was, there := old.Peer(p.Name)
		switch keepalive := was; {
		case !there:
			all.add(plan.ImpactReload, p.Name, p.Name+" is added, the other sessions go on")
		case old.ListenPort != now.ListenPort:
			all.add(plan.ImpactCustomer, p.Name, "the gateway listens on another port")
		case !reflect.DeepEqual(was, p):
			keepalive.Keepalive = p.Keepalive
			if reflect.DeepEqual(keepalive, p) {
				all.add(plan.ImpactReload, p.Name, "")
				continue
			}
			all.add(plan.ImpactReconnect, p.Name, p.Name+" starts a new session")
		}
	}
	for _, p := range old.Peers {
		if _, there := now.Peer(p.Name); !there {
			all.add(plan.ImpactReconnect, p.Name, p.Name+" loses its session")
		}
	}
	return all.sum()
}

// judgeExpectation compares two agent.json. The tunnels themselves are judged by
// their own file; here another private key shows, which is another public key to
// every peer, and another pre-shared key.
func judgeExpectation(before, after string) plan.Verdict {
	all := verdicts{{Impact: plan.ImpactReload}}
	old, oldErr := vpn.ParseExpectation(before)
	now, err := vpn.ParseExpectation(after)
	if err != nil || oldErr != nil {
		return all.sum()
	}
	if len(old.Peers) == len(now.Peers) && grows(before, after) {
		return plan.Verdict{}
	}
	for _, p := range now.Peers {
		was, there := old.Peer(p.Name)
		if there && old.PrivateKey != now.PrivateKey {
			all.add(plan.ImpactCustomer, p.Name, "the gateway gets another private key, and with it another public key")
		}
		if there && was.PresharedKey != p.PresharedKey {
			all.add(plan.ImpactReload, p.Name, "the pre-shared key of "+p.Name+" is in force after its next re-authentication")
		}
	}
	return all.sum()
}
