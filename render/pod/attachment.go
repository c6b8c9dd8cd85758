package pod

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"
	"text/template"

	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
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
// leave by another table than the one that a strict check would look in.
var sysctls = map[string]string{
	"net.ipv4.ip_forward":              "1",
	"net.ipv4.conf.all.rp_filter":      "2",
	"net.ipv4.conf.all.send_redirects": "0",
}

// attachment moves the port's interface into the pod, found by its MAC address:
// interface names differ from node to node.
func (s Spec) attachment() (attachment, error) {
	if t := s.Estate.NetworkAttachmentTemplate; t != "" {
		return expand(t, s.Port)
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
	if !known(s.Port.Address) {
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

// expand fills an estate's own template. A name that it doesn't know is an error,
// and so is a result that is no JSON.
func expand(text string, p vpn.ExpectedPort) (attachment, error) {
	t, err := template.New("networkAttachmentTemplate").Option("missingkey=error").Parse(text)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	values := map[string]string{"MAC": p.MAC, "Address": p.Address, "Subnet": p.Subnet, "Gateway": p.Gateway}
	if err := t.Execute(&b, values); err != nil {
		return "", err
	}
	if !json.Valid([]byte(b.String())) {
		return "", errors.New("networkAttachmentTemplate: the result is not JSON")
	}
	return attachment(b.String()), nil
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
