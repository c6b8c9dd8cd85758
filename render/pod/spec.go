package pod

import "github.com/vpnctl/vpnctl/plan/vpn"

// Spec is what the objects of one gateway follow from.
type Spec struct {
	Estate  vpn.Estate
	Gateway vpn.Gateway
	Labels  map[string]string // ownership labels, on every object
	Notes   map[string]string // ownership annotations, the same
	Node    string            // or resource.Unknown
	Port    vpn.ExpectedPort  // its values may be resource.Unknown
	Config  map[string]string // data of the protocol's ConfigMap
	Rules   string            // nat.nft
}

// Object is one object and what identifies it. All are in the gateway's namespace.
type Object struct {
	APIVersion, Kind, Name string
	Body                   any // written by package yaml
}

// Keys of the ConfigMaps.
const (
	KeySwanctl   = "swanctl.conf"
	KeyDaemon    = "strongswan.conf"
	KeyWireGuard = "wg0.conf"
	KeyAgent     = "agent.json"
	KeyRules     = "nat.nft"
)

// Names of objects that are not the gateway's own name.

// ConfigName is the ConfigMap of what the gateway's protocol reads.
func ConfigName(g vpn.Gateway) string {
	if g.Protocol == vpn.WireGuard {
		return g.Owner.Name + "-wireguard"
	}
	return g.Owner.Name + "-swanctl"
}

// RulesName is the ConfigMap of the nftables ruleset.
func RulesName(g vpn.Gateway) string { return g.Owner.Name + "-nat" }

// PolicyName is the NetworkPolicy of the pod's first interface.
func PolicyName(g vpn.Gateway) string { return g.Owner.Name + "-nic1" }

// Image of the containers where the estate names none: the image of this release.
const Image = "ghcr.io/vpnctl/gateway:v0.1.0"

// Ports that the containers serve on the pod's first interface.
const (
	MetricsPort   = 9903 // of the status agent: metrics and its health
	DataplanePort = 9904 // of the dataplane agent: its health
)

// Objects returns the objects of a gateway, in no particular order.
func Objects(s Spec) ([]Object, error) {
	attachment, err := s.attachment()
	if err != nil {
		return nil, err
	}
	deployment, err := s.deployment(attachment)
	if err != nil {
		return nil, err
	}
	objects := []Object{
		attachment.object(s), s.config(), s.rules(), s.account(), s.role(), s.binding(), deployment,
	}
	if s.Estate.NetworkPolicy {
		objects = append(objects, s.policy())
	}
	if s.Estate.Monitoring.PodMonitor {
		objects = append(objects, s.podMonitor())
	}
	if s.Estate.Monitoring.PrometheusRule {
		objects = append(objects, s.prometheusRule())
	}
	return objects, nil
}

func (s Spec) name() string { return s.Gateway.Owner.Name }

// userspace tells whether charon, or the agent for WireGuard, carries the packets
// itself, on a TUN device.
func (s Spec) userspace() bool {
	return s.Estate.Pod.Dataplane(s.Gateway.Protocol) == vpn.DataplaneUserspace
}
