package kube

import (
	"fmt"
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
	told := map[string]ipsecv1alpha1.TunnelStatus{}
	for _, t := range s.Tunnels {
		told[t.Name] = t
	}
	for _, t := range w.Spec.Tunnels {
		p := roster.Peer{Namespace: w.Namespace, Gateway: w.Name, Name: string(t.Name), Manifest: roster.Manifest{Created: m.Created}}
		if r, is := told[string(t.Name)]; is {
			p.Report = report(r.State, r.Up, r.Message, r.Since, nil, r.RekeyAt, r.BytesIn, r.BytesOut, g.Reported)
		}
		g.Peers = append(g.Peers, p)
	}
	return g
}

func vpnPeer(w *vpnv1alpha1.VPNPeer, m roster.Manifest) roster.Peer {
	s := w.Status
	return roster.Peer{
		Namespace: w.Namespace, Gateway: string(w.Spec.GatewayRef), Name: w.Name, Manifest: m,
		Roams:  w.Spec.WireGuard != nil && len(w.Spec.WireGuard.Subnets) == 0,
		Report: report(s.State, s.Up, s.Message, s.Since, s.LastHandshake, s.RekeyAt, s.BytesIn, s.BytesOut, reportedAt(w.ManagedFields)),
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
