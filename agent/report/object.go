package report

import (
	"encoding/json"
	"errors"
	"fmt"

	ipsecv1alpha1 "github.com/vpnctl/vpnctl/crds/ipsec/v1alpha1"
	vpnv1alpha1 "github.com/vpnctl/vpnctl/crds/vpn/v1alpha1"
	"github.com/vpnctl/vpnctl/plan/vpn"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// object names one object whose status is written.
type object struct{ Kind, Namespace, Name string }

func gatewayObject(o vpn.Owner) object { return object{o.Kind, o.Namespace, o.Name} }

func peerObject(gateway vpn.Owner, name string) object {
	return object{vpnv1alpha1.KindVPNPeer, gateway.Namespace, name}
}

func (o object) String() string { return fmt.Sprintf("%s %s/%s", o.Kind, o.Namespace, o.Name) }

// plural is how the API spells the kind in a path.
func (o object) plural() string {
	switch o.Kind {
	case vpn.KindIPsecGateway:
		return "ipsecgateways"
	case vpn.KindVPNGateway:
		return "vpngateways"
	}
	return "vpnpeers"
}

// path of the status subresource.
func (o object) path() string {
	version := vpnv1alpha1.GroupVersion
	if o.Kind == vpn.KindIPsecGateway {
		version = ipsecv1alpha1.GroupVersion
	}
	return fmt.Sprintf("/apis/%s/namespaces/%s/%s/%s/status", version, o.Namespace, o.plural(), o.Name)
}

// patch is the merge patch that makes the object's status say c. It names every
// field that the agent owns, also those that end, so it repairs whatever it meets,
// and nothing that others own.
func (o object) patch(c content) []byte {
	status := map[string]any{}
	switch o.Kind {
	case vpn.KindIPsecGateway:
		status["tunnels"], status["tunnelsUp"] = c.Peers, c.Up
	case vpn.KindVPNGateway:
		status["peers"], status["peersUp"], status["peersOmitted"] = c.Peers, c.Up, unlessZero(c.Omitted)
		if c.PublicKey != "" {
			status["wireguardPublicKey"] = c.PublicKey
		}
	default:
		status = peerFields(c.Peers[0])
	}
	data, _ := json.Marshal(map[string]any{"status": status}) // plain values can't fail
	return data
}

func peerFields(e vpnv1alpha1.PeerStatus) map[string]any {
	return map[string]any{
		"state": unlessZero(e.State), "up": unlessZero(e.Up), "message": unlessZero(e.Message), "since": unlessNil(e.Since),
		"lastHandshake": unlessNil(e.LastHandshake), "rekeyAt": unlessNil(e.RekeyAt), "bytesIn": e.BytesIn, "bytesOut": e.BytesOut,
	}
}

// unlessZero and unlessNil give null for what isn't there: a merge patch removes it.
func unlessZero[T comparable](v T) any {
	if v == *new(T) {
		return nil
	}
	return v
}

func unlessNil(t *metav1.Time) any {
	if t == nil {
		return nil
	}
	return t
}

// read finds in an object of the API what patch would have written.
func (o object) read(data []byte) (content, error) {
	var wire struct {
		Status struct {
			vpnv1alpha1.PeerStatus // of a VPNPeer
			Peers                  []vpnv1alpha1.PeerStatus
			PeersUp                string
			PeersOmitted           int32
			WireGuardPublicKey     string
			Tunnels                []vpnv1alpha1.PeerStatus
			TunnelsUp              string
		}
	}
	if json.Unmarshal(data, &wire) != nil {
		return content{}, errors.New("the answer isn't such an object")
	}
	s := wire.Status
	switch o.Kind {
	case vpn.KindIPsecGateway:
		return content{Peers: s.Tunnels, Up: s.TunnelsUp}, nil
	case vpn.KindVPNGateway:
		return content{Peers: s.Peers, Up: s.PeersUp, Omitted: s.PeersOmitted, PublicKey: s.WireGuardPublicKey}, nil
	}
	return peerContent(s.PeerStatus), nil
}
