package render

import (
	"strings"

	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/render/pod"
)

// Before reads from the observed objects what every peer reaches now: owner's text →
// peer → access. A gateway whose agent.json isn't there, or can't be read, is
// missing.
func Before(observed resource.Graph) map[string]map[string]vpn.Access {
	all := map[string]map[string]vpn.Access{}
	for _, r := range observed {
		if r.Object == nil || r.Object.Kind != "ConfigMap" {
			continue
		}
		text, there := value(r.Object.Content, pod.KeyAgent)
		if !there {
			continue
		}
		e, err := vpn.ParseExpectation(text)
		if err != nil || e.Gateway.String() != r.Owner {
			continue
		}
		peers := map[string]vpn.Access{}
		for _, p := range e.Peers {
			peers[p.Name] = p.Access
		}
		all[r.Owner] = peers
	}
	return all
}

// value finds a ConfigMap's value. A file as it was written is cut at its lines,
// which is a hundred times faster than decoding it; any other shape is decoded.
func value(content, key string) (string, bool) {
	const indent = "    "
	if !strings.Contains(content, key) {
		return "", false
	}
	_, rest, found := strings.Cut(content, "\ndata:\n")
	_, block, plain := strings.Cut("\n"+rest, "\n  "+key+": |\n")
	if !found || !plain {
		text, there := decode(content).Data[key]
		return text, there
	}
	var b strings.Builder
	for line := range strings.Lines(block) {
		body, inside := strings.CutPrefix(line, indent)
		if !inside && strings.TrimSpace(line) != "" {
			break
		}
		b.WriteString(body)
	}
	return b.String(), true
}
