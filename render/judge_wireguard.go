package render

import (
	"reflect"

	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/render/wgconf"
)

// judgeInterface compares two WireGuard files, but for the peers that get another name.
func judgeInterface(before, after string, names map[string]string) plan.Verdict {
	old, now, unread := both(before, after, wgconf.Parse, sessions)
	if unread != nil {
		return unread.sum()
	}
	var all verdicts
	renamed := values(names)
	for _, p := range now.Peers {
		was, there := old.Peer(p.Name)
		switch {
		case renamed[p.Name]:
		case !there:
			all.add(plan.ImpactReload, p.Name, p.Name+" is added, the other sessions go on")
		case old.ListenPort != now.ListenPort:
			all.add(plan.ImpactCustomer, p.Name, "the gateway listens on another port")
		default:
			judgeSession(&all, was, p)
		}
	}
	for _, p := range old.Peers {
		if _, there := now.Peer(p.Name); !there && names[p.Name] == "" {
			all.add(plan.ImpactCustomer, p.Name, p.Name+" loses its session for good: its side must change or stop")
		}
	}
	return all.sum()
}

func sessions(c wgconf.Config) []string {
	var names []string
	for _, p := range c.Peers {
		names = append(names, p.Name)
	}
	return names
}

// judgeSession names the worst of a peer's changes.
func judgeSession(all *verdicts, was, now wgconf.Peer) {
	steady := was
	steady.Keepalive = now.Keepalive
	switch {
	case reflect.DeepEqual(was, now):
	case was.PublicKey != now.PublicKey:
		all.add(plan.ImpactCustomer, now.Name, now.Name+" must have the private key of "+now.PublicKey)
	case reflect.DeepEqual(steady, now):
		all.add(plan.ImpactReload, now.Name, "")
	default:
		all.add(plan.ImpactReconnect, now.Name, now.Name+" starts a new session")
	}
}

// judgeExpectation compares two agent.json. The tunnels themselves are judged by
// their own file; only here the references to keys show.
func judgeExpectation(before, after string, _ map[string]string) plan.Verdict {
	old, oldErr := vpn.ParseExpectation(before)
	now, err := vpn.ParseExpectation(after)
	if err != nil || oldErr != nil {
		return plan.Verdict{Impact: plan.ImpactReload}
	}
	all := judgeKeys(old, now)
	if len(all) == 0 && len(old.Peers) == len(now.Peers) && grows(before, after) {
		return plan.Verdict{}
	}
	return append(all, plan.Verdict{Impact: plan.ImpactReload}).sum()
}

// judgeKeys compares which Secrets hold the keys. Another private key is another
// public key to every peer. A pre-shared key counts in WireGuard with the next
// handshake, two minutes at most, and nothing comes through until the other side has
// it; IPsec asks for it when a peer authenticates, which is later, and as final. What
// stands in a Secret is not known here: where both hold the same, nobody must act.
func judgeKeys(old, now vpn.Expectation) verdicts {
	var all verdicts
	for _, p := range now.Peers {
		was, there := old.Peer(p.Name)
		if there && old.PrivateKey != now.PrivateKey {
			all.add(plan.ImpactCustomer, p.Name, "the gateway gets another private key, and with it another public key")
		}
		switch {
		case !there || was.PresharedKey == p.PresharedKey:
		case now.Protocol != vpn.WireGuard:
			all.add(plan.ImpactCustomer, p.Name, p.Name+" must use the pre-shared key of "+secret(p.PresharedKey)+
				": else its tunnel fails at the next re-authentication")
		case p.PresharedKey == vpn.SecretRef{}:
			all.add(plan.ImpactCustomer, p.Name, p.Name+" must not use a pre-shared key any more")
		default:
			all.add(plan.ImpactCustomer, p.Name, p.Name+" must use the pre-shared key of "+secret(p.PresharedKey))
		}
	}
	return all
}

// secret names one key of a Secret.
func secret(ref vpn.SecretRef) string { return "Secret " + ref.Name + ", key " + ref.Key }
