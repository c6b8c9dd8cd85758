package plan

import (
	"fmt"
	"slices"
	"strings"
)

// ofGateway says what a difference of a gateway's manifest is.
func (f field) ofGateway() cause {
	at := func(i int) string {
		if i < len(f.path) {
			return f.path[i]
		}
		return ""
	}
	switch at(0) {
	case "exposures", "reverseExposures":
		noun := map[string]string{"exposures": "exposure ", "reverseExposures": "reverse exposure "}[at(0)]
		return f.ofExposure(noun, at(1), at(2))
	case "tunnels":
		if len(f.path) == 2 {
			return cause{words: f.comes("peer " + at(1))}
		}
		return f.ofPeer(at(1), f.path[min(2, len(f.path)):])
	case "ipsec", "ike":
		return cause{f.ike(), []part{partTunnels}}
	case "auth":
		return cause{"pre-shared key", []part{partTunnels, partRights}}
	case "wireguard":
		if at(1) == "privateKeySecretRef" {
			return cause{"private key", []part{partTunnels, partRights}}
		}
	}
	return cause{words: f.value()}
}

func (f field) ofExposure(noun, name, below string) cause {
	moves := []part{partTunnels, partRuleset}
	switch below {
	case "":
		if name == "" {
			return cause{strings.TrimSpace(noun) + "s", moves}
		}
		return cause{f.comes(noun + name), moves}
	case "virtualIP":
		return cause{"virtual IP of " + name, moves}
	}
	if !slices.Contains(f.path, "host") { // only a name is the agent's to resolve
		moves = moves[1:]
	}
	return cause{"target of " + name, moves}
}

// ofPeer says what a difference of a peer's manifest is, which lies at the path.
func (f field) ofPeer(name string, path []string) cause {
	within := func(what string) bool { return slices.Contains(path, what) }
	of := " of " + name
	tunnels := []part{partTunnels}
	switch {
	case within("authorization"):
		return cause{"grants" + of, []part{partTunnels, partRuleset}}
	case within("pskSecretRef"), within("presharedKeySecretRef"):
		return cause{"pre-shared key" + of, []part{partTunnels, partRights}}
	case within("remoteSubnets"), within("subnets"):
		return cause{"subnets" + of, []part{partTunnels, partRuleset}}
	case within("wireguard") && within("address"):
		return cause{"tunnel IP" + of, []part{partTunnels, partRuleset}}
	case within("esp"):
		return cause{"ESP " + path[len(path)-1] + of, tunnels}
	case within("id"):
		return cause{"identity" + of, tunnels}
	case within("publicKey"):
		return cause{"public key" + of, tunnels}
	case within("persistentKeepalive"):
		return cause{"keepalive" + of, tunnels}
	case within("address"), within("endpoint"), within("selectors"):
		return cause{path[len(path)-1] + of, tunnels}
	}
	return cause{words: strings.Join(path, ".") + of}
}

func (f field) ike() string {
	if slices.Contains(f.path, "dpd") {
		return "DPD timers"
	}
	return "IKE " + f.path[len(f.path)-1]
}

// comes says that something comes or goes.
func (f field) comes(what string) string {
	switch {
	case f.before == nil:
		return what + " added"
	case f.after == nil:
		return what + " removed"
	}
	return what + " changed"
}

// value names the field with its values, where they are short.
func (f field) value() string {
	if len(f.path) == 0 {
		return "spec"
	}
	name := f.path[len(f.path)-1]
	for _, v := range []any{f.before, f.after} {
		switch v.(type) {
		case map[string]any, []any:
			return name
		}
	}
	switch {
	case f.before == nil:
		return fmt.Sprintf("%s %v", name, f.after)
	case f.after == nil:
		return fmt.Sprintf("no %s any more", name)
	}
	return fmt.Sprintf("%s %v → %v", name, f.before, f.after)
}
