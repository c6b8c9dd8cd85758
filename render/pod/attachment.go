package pod

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/vpnctl/vpnctl/plan/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// attachment is the CNI configuration of the pod's second interface, as JSON.
type attachment string

// attachmentDefinition is Multus' NetworkAttachmentDefinition.
type attachmentDefinition struct {
	metav1.ObjectMeta `json:"metadata"`
	Spec              attachmentSpec `json:"spec"`
}

type attachmentSpec struct {
	Config string `json:"config"`
}

// sysctls of the pod's network, which only a CNI plugin can set: the containers see
// /proc/sys read-only. Source validation is loose, because the answers of a tunnel
// leave by another table than the one that a strict check would look in. Redirects are
// sent unless they are off both for all and for the port, for whose name the plugin
// puts in the interface that it configures.
var sysctls = map[string]string{
	"net.ipv4.ip_forward":                 "1",
	"net.ipv4.conf.all.rp_filter":         "2",
	"net.ipv4.conf.all.send_redirects":    "0",
	"net.ipv4.conf.IFNAME.send_redirects": "0",
}

// attachment moves the port's interface into the pod, found by its MAC address:
// interface names differ from node to node.
func (s Spec) attachment() (attachment, error) {
	if t := s.Estate.NetworkAttachmentTemplate; t != "" {
		config, err := s.Port.Attachment(t)
		if err != nil {
			return "", fmt.Errorf("networkAttachmentTemplate: %w", err)
		}
		return attachment(config), nil
	}
	config, err := json.MarshalIndent(cniList{
		Version: "1.0.0",
		Name:    s.name(),
		Plugins: []any{
			hostDevice{Type: "host-device", MAC: s.Port.MAC, IPAM: cniIPAM{Type: "static", Addresses: []cniAddress{{s.hostAddress()}}}},
			cniTuning{Type: "tuning", Sysctls: sysctls},
		},
	}, "", "  ")
	return attachment(config), err
}

// hostAddress is the port's address without its subnet: the agent adds the connected
// route to the port's own table, where it takes nothing from the pod's main one.
func (s Spec) hostAddress() string {
	if s.Port.Address == resource.Unknown {
		return resource.Unknown
	}
	return s.Port.Address + "/32"
}

type cniList struct {
	Version string `json:"cniVersion"`
	Name    string `json:"name"`
	Plugins []any  `json:"plugins"`
}

type hostDevice struct {
	Type string  `json:"type"`
	MAC  string  `json:"hwaddr"`
	IPAM cniIPAM `json:"ipam"`
}

type cniIPAM struct {
	Type      string       `json:"type"`
	Addresses []cniAddress `json:"addresses"`
}

type cniAddress struct {
	Address string `json:"address"`
}

type cniTuning struct {
	Type    string            `json:"type"`
	Sysctls map[string]string `json:"sysctl"`
}

func (a attachment) object(s Spec) Object {
	return Object{"k8s.cni.cncf.io/v1", "NetworkAttachmentDefinition", s.name(), attachmentDefinition{
		ObjectMeta: s.meta(s.name()), Spec: attachmentSpec{Config: string(a)},
	}}
}

// digest stands in the pod template: a CNI configuration is read when a pod starts,
// so a new one needs a new pod.
func (a attachment) digest() string {
	if strings.Contains(string(a), resource.Unknown) {
		return resource.Unknown
	}
	sum := sha256.Sum256([]byte(a))
	return hex.EncodeToString(sum[:8])
}
