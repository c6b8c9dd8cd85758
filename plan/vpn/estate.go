package vpn

import (
	"cmp"
	"encoding/json"
	"net/netip"
)

// Targets of the Kubernetes side.
const (
	TargetCluster   = "cluster"
	TargetDirectory = "directory"
)

// Estate is everything that was read: the installation's configuration and all
// gateways and links, each list sorted by owner.
type Estate struct {
	Name       string     `json:"name"`
	OpenStack  OpenStack  `json:"openstack"`
	Kubernetes Kubernetes `json:"kubernetes"`

	ServiceCIDRPool     netip.Prefix   `json:"serviceCIDRPool"`
	InternalSourceCIDRs []netip.Prefix `json:"internalSourceCIDRs,omitempty"` // sorted, canonical

	Pod                       Pod        `json:"pod"`
	NetworkAttachmentTemplate string     `json:"networkAttachmentTemplate,omitempty"` // empty: the built-in host-device configuration
	NetworkPolicy             bool       `json:"networkPolicy"`
	Patches                   []Patch    `json:"patches,omitempty"` // in the order written
	Monitoring                Monitoring `json:"monitoring"`

	Gateways []Gateway `json:"gateways"`
	Links    []Link    `json:"links,omitempty"`
}

// OpenStack says which cloud to use and where things live in it.
type OpenStack struct {
	Cloud          string     `json:"cloud,omitempty"`      // entry of clouds.yaml
	Network        string     `json:"network"`              // name or ID
	Router         string     `json:"router"`               // name or ID
	FloatingIPPool string     `json:"floatingIPPool"`       // name or ID
	LockAddress    netip.Addr `json:"lockAddress,omitzero"` // zero: the last host of the transit subnet

	// Clouds are entries of clouds.yaml for customers' projects, by the name of the
	// cross-tenant link that leads there; target directory only.
	Clouds map[string]string `json:"clouds,omitempty"`
}

// Kubernetes says where the Kubernetes side goes.
type Kubernetes struct {
	Target    string `json:"target"`
	Directory string `json:"directory,omitempty"` // as written: relative to the estate file
	Nodes     []Node `json:"nodes,omitempty"`     // target directory: what a cluster would answer, sorted by name
}

// Node is a Kubernetes node that can carry gateway pods.
type Node struct {
	Name     string `json:"name"`
	ServerID string `json:"serverID"` // UUID of its Nova server
}

// Pod configures gateway pods.
type Pod struct {
	Image              string          `json:"image,omitempty"`
	Resources          json.RawMessage `json:"resources,omitempty"`   // a core/v1 ResourceRequirements
	Tolerations        json.RawMessage `json:"tolerations,omitempty"` // a list of core/v1 Toleration
	PriorityClassName  string          `json:"priorityClassName,omitempty"`
	MaxGatewaysPerNode int             `json:"maxGatewaysPerNode"`
	IPsecDataplane     string          `json:"ipsecDataplane"`     // kernel or userspace
	WireGuardDataplane string          `json:"wireguardDataplane"` // kernel or userspace
}

// Dataplane is who carries a protocol's packets: DataplaneKernel or
// DataplaneUserspace.
func (p Pod) Dataplane(protocol Protocol) string {
	chosen := p.IPsecDataplane
	if protocol == WireGuard {
		chosen = p.WireGuardDataplane
	}
	return cmp.Or(chosen, DataplaneKernel)
}

// Patch is a kustomize patch over the rendered objects: a patch document and
// the selector of its targets, both as kustomize's own JSON.
type Patch struct {
	Patch  string          `json:"patch"`
	Target json.RawMessage `json:"target,omitempty"`
}

// Monitoring says which Prometheus operator objects are rendered.
type Monitoring struct {
	PodMonitor     bool `json:"podMonitor"`
	PrometheusRule bool `json:"prometheusRule"`
}

// Gateway finds a gateway by namespace/name.
func (e Estate) Gateway(path string) (Gateway, bool) {
	for _, g := range e.Gateways {
		if g.Owner.Path() == path {
			return g, true
		}
	}
	return Gateway{}, false
}
