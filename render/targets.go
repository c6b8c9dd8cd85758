package render

import (
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/render/nat"
	"github.com/vpnctl/vpnctl/render/pod"
)

// Targets reads from a gateway's ConfigMaps where its exposures lead, by their names;
// nil where the ruleset is not among them, or can't be read. A host is missing where
// agent.json is.
func Targets(objects resource.Graph) map[string]vpn.Target {
	var all map[string]vpn.Target
	var hosts []vpn.ExpectedHost
	for _, r := range objects {
		if r.Object == nil || r.Object.Kind != "ConfigMap" {
			continue
		}
		if text, there := value(r.Object.Content, pod.KeyRules); there {
			if table, err := nat.Parse(text); err == nil {
				all = table.Targets()
			}
		}
		if text, there := value(r.Object.Content, pod.KeyAgent); there {
			if e, err := vpn.ParseExpectation(text); err == nil {
				hosts = e.Hosts
			}
		}
	}
	for _, h := range hosts {
		if target, there := all[h.Exposure]; there {
			target.Host = h.Host
			all[h.Exposure] = target
		}
	}
	return all
}
