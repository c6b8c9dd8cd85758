package kube

import (
	"fmt"
	"maps"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ipsecv1alpha1 "github.com/vpnctl/vpnctl/crds/ipsec/v1alpha1"
	vpnv1alpha1 "github.com/vpnctl/vpnctl/crds/vpn/v1alpha1"
	"github.com/vpnctl/vpnctl/plan/roster"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

func vpnGateway(w *vpnv1alpha1.VPNGateway, m roster.Manifest) roster.Gateway {
	s := w.Status
	g := roster.Gateway{
		Owner: vpn.Owner{Kind: vpn.KindVPNGateway, Namespace: w.Namespace, Name: w.Name}, Manifest: m, Protocol: vpn.Protocol(w.Spec.Protocol),
		Address: s.FloatingIP, ServiceCIDR: s.ServiceCIDR, FixedAddress: s.PortFixedIP, Node: s.NodeName, PublicKey: s.WireGuardPublicKey,
		VirtualIPs: virtualIPs(s.VirtualIPs), Reported: reportedAt(w.ManagedFields),
	}
	g.Touched = len(m.Conditions) > 0 || s.PeersUp != "" || s.ServiceCIDR != ""
	for _, p := range s.Peers {
		g.Peers = append(g.Peers, roster.Peer{
			Namespace: w.Namespace, Gateway: w.Name, Name: p.Name,
			Report: report(p.State, p.Up, p.Message, p.Since, p.LastHandshake, p.RekeyAt, p.BytesIn, p.BytesOut, g.Reported),
		})
	}
	return g
}

func ipsecGateway(w *ipsecv1alpha1.IPsecGateway, m roster.Manifest) roster.Gateway {
	s := w.Status
	g := roster.Gateway{
		Owner: vpn.Owner{Kind: vpn.KindIPsecGateway, Namespace: w.Namespace, Name: w.Name}, Manifest: m, Protocol: vpn.IPsec,
		Address: s.FloatingIP, ServiceCIDR: s.ServiceCIDR, FixedAddress: s.PortFixedIP, Node: s.NodeName,
		VirtualIPs: virtualIPs(s.VirtualIPs), Reported: reportedAt(w.ManagedFields),
	}
	g.Touched = len(m.Conditions) > 0 || s.TunnelsUp != "" || s.ServiceCIDR != ""
	g.Peers = tunnels(w, g)
	return g
}

// tunnels are those that are written, in their order, and then those that the pod still
// speaks of.
func tunnels(w *ipsecv1alpha1.IPsecGateway, g roster.Gateway) []roster.Peer {
	var all []roster.Peer
	told := map[string]ipsecv1alpha1.TunnelStatus{}
	for _, t := range w.Status.Tunnels {
		told[t.Name] = t
	}
	add := func(name string, created time.Time) {
		t := told[name]
		delete(told, name)
		all = append(all, roster.Peer{
			Namespace: w.Namespace, Gateway: w.Name, Name: name, Manifest: roster.Manifest{Created: created},
			Report: report(t.State, t.Up, t.Message, t.Since, nil, t.RekeyAt, t.BytesIn, t.BytesOut, g.Reported),
		})
	}
	for _, t := range w.Spec.Tunnels {
		add(string(t.Name), g.Created)
	}
	for _, name := range slices.Sorted(maps.Keys(told)) {
		add(name, time.Time{})
	}
	return all
}

func vpnPeer(w *vpnv1alpha1.VPNPeer, m roster.Manifest) roster.Peer {
	s := w.Status
	return roster.Peer{
		Namespace: w.Namespace, Gateway: string(w.Spec.GatewayRef), Name: w.Name, Manifest: m,
		Address: s.Address,
		Roams:   w.Spec.WireGuard != nil && len(w.Spec.WireGuard.Subnets) == 0,
		Report:  report(s.State, s.Up, s.Message, s.Since, s.LastHandshake, s.RekeyAt, s.BytesIn, s.BytesOut, reportedAt(w.ManagedFields)),
	}
}

func clusterLink(w *ipsecv1alpha1.ClusterLink, m roster.Manifest) roster.Link {
	return roster.Link{
		Name: w.Name, Manifest: m, Touched: len(m.Conditions) > 0 || w.Status.TransitIP != "",
		Router: w.Spec.ServiceClusterRouter, CIDR: string(w.Spec.ServiceClusterCIDR), TransitIP: w.Status.TransitIP,
	}
}

func virtualIPs(wire []vpnv1alpha1.VirtualIPStatus) []roster.VirtualIP {
	var all []roster.VirtualIP
	for _, v := range wire {
		all = append(all, roster.VirtualIP{Name: v.Name, IP: v.IP, Reverse: v.Reverse})
	}
	return all
}

// report is what a pod wrote of a peer, at some time.
func report(state, up, message string, since, handshake, rekey *metav1.Time, in, out int64, at time.Time) roster.Report {
	r := roster.Report{
		State: state, Message: message, Since: moment(since), LastHandshake: moment(handshake), RekeyAt: moment(rekey), In: in, Out: out, At: at,
	}
	_, _ = fmt.Sscanf(up, "%d of %d", &r.Up, &r.Expected) // empty while it isn't known
	return r
}

func moment(t *metav1.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.Time
}
