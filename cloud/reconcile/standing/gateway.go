package standing

import (
	"slices"

	"github.com/vpnctl/vpnctl/cloud"
	vpnv1alpha1 "github.com/vpnctl/vpnctl/crds/vpn/v1alpha1"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// Gateway is what the status of a gateway's manifests should say. Conditions that are
// not among these stay as they are.
type Gateway struct {
	Owner       vpn.Owner
	ServiceCIDR string // empty fields are not known, and stay as they are
	FloatingIP  string
	PortFixedIP string
	NodeName    string
	PublicKey   string      // of a WireGuard gateway
	NoKey       bool        // there is none to derive it from: what the status has is wrong
	VirtualIPs  []VirtualIP // sorted by name; nil: not known
	Conditions  []cloud.Condition
	Link        LinkFields                 // of a link, which has nothing of the above but its owner and conditions
	Peers       map[string]cloud.Condition // Authorized, by VPNPeer
	PeersReady  map[string]cloud.Condition // Ready, by VPNPeer; of one that isn't among these see Peer
	Addresses   map[string]string          // of road warriors inside the tunnel, by VPNPeer; as far as known
}

// VirtualIP is the address of one exposure.
type VirtualIP struct {
	Name    string
	IP      string
	Reverse bool
}

// Ready is the last condition, which sums up the others.
func (s Gateway) Ready() cloud.Condition {
	i := slices.IndexFunc(s.Conditions, func(c cloud.Condition) bool { return c.Type == vpnv1alpha1.ConditionReady })
	if i < 0 {
		return cloud.Condition{Type: vpnv1alpha1.ConditionReady, Status: Unknown, Reason: ReasonPending}
	}
	return s.Conditions[i]
}

// Status is what the gateway's manifest is to say.
func (s Gateway) Status() cloud.Status {
	fields := s.Link.fields()
	for name, value := range map[string]string{
		"serviceCIDR": s.ServiceCIDR, "floatingIP": s.FloatingIP, "portFixedIP": s.PortFixedIP, "nodeName": s.NodeName,
		"wireguardPublicKey": s.PublicKey,
	} {
		if value != "" {
			fields[name] = value
		}
	}
	if s.NoKey {
		fields["wireguardPublicKey"] = nil
	}
	if s.VirtualIPs != nil {
		all := []vpnv1alpha1.VirtualIPStatus{}
		for _, v := range s.VirtualIPs {
			all = append(all, vpnv1alpha1.VirtualIPStatus{Name: v.Name, IP: v.IP, Reverse: v.Reverse})
		}
		fields["virtualIPs"] = all
	}
	return cloud.Status{Fields: fields, Conditions: s.Conditions}
}

// Keyless says that a gateway has no key, or that it isn't known whether it has. What is
// said of its configuration already comes first.
func (s *Gateway) Keyless(status, why string) {
	s.NoKey = status == False
	reason := map[string]string{False: vpnv1alpha1.ReasonWGKey, Unknown: ReasonPending}[status]
	all := slices.Clone(s.Conditions)
	for i, c := range all {
		if c.Type == vpnv1alpha1.ConditionConfigRendered && c.Status == True {
			all[i] = Say(c.Type, status, reason, why)
		}
	}
	all = slices.DeleteFunc(all, func(c cloud.Condition) bool { return c.Type == vpnv1alpha1.ConditionReady })
	s.Conditions = append(all, ready(all))
	s.waits(status)
}
