//go:build e2e

package lab

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/vpnctl/vpnctl/agent/lab/netns"
)

// attachment is the part of a CNI list that the lab knows how to carry out.
type attachment struct {
	Plugins []struct {
		Type string `json:"type"`
		MAC  string `json:"hwaddr,omitempty"`
		IPAM struct {
			Type      string `json:"type"`
			Addresses []struct {
				Address string `json:"address"`
			} `json:"addresses"`
		} `json:"ipam,omitzero"`
		Sysctls map[string]string `json:"sysctl,omitempty"`
	} `json:"plugins"`
	Version string `json:"cniVersion"`
	Name    string `json:"name"`
}

// attach does what the plugins of a network attachment do: host-device brings the
// port's interface into the pod as net1, static gives it its address, tuning writes
// settings of the namespace, in which IFNAME is the interface.
func attach(t *testing.T, config string, pod netns.Namespace, port func(mac string)) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(config))
	d.DisallowUnknownFields()
	var a attachment
	if err := d.Decode(&a); err != nil {
		t.Fatalf("reading the network attachment: %v", err)
	}
	for _, p := range a.Plugins {
		switch {
		case p.Type == "host-device" && p.IPAM.Type == "static":
			port(p.MAC)
			for _, address := range p.IPAM.Addresses {
				pod.IP(t, fmt.Sprintf("addr add %s dev net1", address.Address))
			}
			pod.IP(t, "link set net1 up")
		case p.Type == "tuning":
			for name, value := range p.Sysctls {
				pod.Sysctl(t, strings.ReplaceAll(name, "IFNAME", "net1"), value)
			}
		default:
			t.Fatalf("the lab doesn't know the CNI plugin %s", p.Type)
		}
	}
}
