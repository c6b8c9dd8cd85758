package pod

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

func spec() Spec {
	return Spec{
		Gateway: vpn.Gateway{
			Owner: vpn.Owner{Kind: vpn.KindVPNGateway, Namespace: "acme", Name: "dc1"}, Protocol: vpn.IPsec,
			Peers: []vpn.Peer{{Name: "b", PSK: vpn.SecretRef{Name: "z", Key: "k"}}, {Name: "c", PSK: vpn.SecretRef{Name: "y", Key: "k"}}, {Name: "d", PSK: vpn.SecretRef{Name: "z", Key: "k"}}},
		},
		Node: "worker-1",
		Port: vpn.ExpectedPort{MAC: "fa:16:3e:00:00:17", Address: "10.254.0.17", Subnet: "10.254.0.0/24", Gateway: "10.254.0.1"},
	}
}

func objects(t *testing.T, s Spec) map[string]any {
	t.Helper()
	all, err := Objects(s)
	if err != nil {
		t.Fatal(err)
	}
	byKind := map[string]any{}
	for _, o := range all {
		byKind[o.Kind+"/"+o.Name] = o.Body
	}
	return byKind
}

func podOf(t *testing.T, s Spec) corev1.PodSpec {
	t.Helper()
	return objects(t, s)["Deployment/dc1"].(appsv1.Deployment).Spec.Template.Spec
}

func TestContainersMayDoNoMoreThanTheyMust(t *testing.T) {
	capabilities := map[string][]corev1.Capability{"charon": {"NET_ADMIN", "NET_BIND_SERVICE"}, "dataplane": {"NET_ADMIN"}, "status": nil}
	for _, c := range []struct {
		protocol                   vpn.Protocol
		dataplane, onTUN, onSocket string // the containers that have a device of the node, and that of WireGuard's socket
	}{
		{vpn.IPsec, vpn.DataplaneKernel, "", ""},
		{vpn.IPsec, vpn.DataplaneUserspace, "charon", ""},
		{vpn.WireGuard, vpn.DataplaneKernel, "", ""},
		{vpn.WireGuard, vpn.DataplaneUserspace, "dataplane", "dataplane"},
	} {
		t.Run(string(c.protocol)+" "+c.dataplane, func(t *testing.T) {
			s := spec()
			s.Gateway.Protocol, s.Gateway.WireGuard = c.protocol, &vpn.Interface{}
			// The other protocol's data plane has no say.
			s.Estate.Pod.IPsecDataplane, s.Estate.Pod.WireGuardDataplane = c.dataplane, vpn.DataplaneUserspace
			if c.protocol == vpn.WireGuard {
				s.Estate.Pod.IPsecDataplane, s.Estate.Pod.WireGuardDataplane = vpn.DataplaneUserspace, c.dataplane
			}
			confinedPod(t, podOf(t, s), capabilities, c.onTUN, c.onSocket)
		})
	}
}

func confinedPod(t *testing.T, p corev1.PodSpec, capabilities map[string][]corev1.Capability, onTUN, onSocket string) {
	t.Helper()
	if *p.AutomountServiceAccountToken || p.HostNetwork || p.HostPID || p.HostIPC {
		t.Error("the pod shares more than it should")
	}
	if p.SecurityContext.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault {
		t.Error("the pod has no seccomp profile")
	}
	for _, c := range p.Containers {
		x := c.SecurityContext
		if *x.Privileged || *x.AllowPrivilegeEscalation || !*x.ReadOnlyRootFilesystem || !slices.Equal(x.Capabilities.Drop, []corev1.Capability{"ALL"}) {
			t.Errorf("%s is not confined: %+v", c.Name, x)
		}
		if want, known := capabilities[c.Name]; !known || !slices.Equal(x.Capabilities.Add, want) {
			t.Errorf("%s has the capabilities %v, want %v", c.Name, x.Capabilities.Add, want)
		}
		for volume, holder := range map[string]string{"token": "status", "tun": onTUN, "wireguard": onSocket} {
			has := slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return m.Name == volume })
			if has != (c.Name == holder) {
				t.Errorf("%s mounts %s: %v", c.Name, volume, has)
			}
		}
		if c.LivenessProbe == nil || c.Resources.Requests == nil || c.Resources.Limits == nil {
			t.Errorf("%s has no probe or no bounds", c.Name)
		}
		for _, m := range c.VolumeMounts {
			if m.SubPath != "" || m.SubPathExpr != "" {
				t.Errorf("%s would never see a change of %s", c.Name, m.Name)
			}
		}
	}
	onHost := slices.ContainsFunc(p.Volumes, func(v corev1.Volume) bool { return v.HostPath != nil })
	if onHost != (onTUN != "") {
		t.Errorf("something of the host is mounted: %v", onHost)
	}
}

func TestEveryMountHasItsVolume(t *testing.T) {
	for _, protocol := range []vpn.Protocol{vpn.IPsec, vpn.WireGuard} {
		s := spec()
		s.Estate.Pod.IPsecDataplane, s.Estate.Pod.WireGuardDataplane = vpn.DataplaneUserspace, vpn.DataplaneUserspace
		s.Gateway.Protocol, s.Gateway.WireGuard = protocol, &vpn.Interface{}
		p := podOf(t, s)
		all := objects(t, s)
		for _, c := range p.Containers {
			for _, m := range c.VolumeMounts {
				if !slices.ContainsFunc(p.Volumes, func(v corev1.Volume) bool { return v.Name == m.Name }) {
					t.Errorf("%s: no volume %s", c.Name, m.Name)
				}
			}
		}
		for _, v := range p.Volumes {
			if v.ConfigMap != nil && all["ConfigMap/"+v.ConfigMap.Name] == nil {
				t.Errorf("no ConfigMap %s", v.ConfigMap.Name)
			}
		}
	}
}

func TestRoleNamesWhatIsNeeded(t *testing.T) {
	rules := func(s Spec) (texts []string) {
		for _, r := range objects(t, s)["Role/dc1"].(rbacv1.Role).Rules {
			texts = append(texts, strings.Join(slices.Concat(r.Verbs, r.APIGroups, r.Resources, r.ResourceNames), " "))
		}
		return texts
	}
	gateway := []string{"get patch vpn.bnerd.net vpngateways/status dc1"}
	for sentence, c := range map[string]struct {
		change func(*Spec)
		want   []string
	}{
		"this gateway's, its peers' and their Secrets": {func(*Spec) {}, append(gateway[:1:1],
			"get patch vpn.bnerd.net vpnpeers/status b c d", "get  secrets y z")},
		"no names at all would be all names": {func(s *Spec) { s.Gateway.Peers = nil }, gateway},
		"an IPsecGateway's own alone": {func(s *Spec) { s.Gateway.Owner.Kind = vpn.KindIPsecGateway }, []string{
			"get patch ipsec.bnerd.net ipsecgateways/status dc1", "get  secrets y z"}},
		"both keys of WireGuard": {func(s *Spec) {
			s.Gateway.WireGuard = &vpn.Interface{PrivateKey: vpn.SecretRef{Name: "own", Key: "k"}}
			s.Gateway.Peers = []vpn.Peer{{Name: "a", PresharedKey: vpn.SecretRef{Name: "shared", Key: "k"}}, {Name: "b"}}
		}, append(gateway[:1:1], "get patch vpn.bnerd.net vpnpeers/status a b", "get  secrets own shared")},
	} {
		t.Run(sentence, func(t *testing.T) {
			s := spec()
			c.change(&s)
			if diff := cmp.Diff(c.want, rules(s)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestEstateShapesThePod(t *testing.T) {
	s := spec()
	s.Estate.Pod = vpn.Pod{
		Image: "x:1", PriorityClassName: "high",
		Resources:   json.RawMessage(`{"requests":{"cpu":"0.1"}}`),
		Tolerations: json.RawMessage(`[{"key":"gateways","operator":"Exists"}]`),
	}
	p := podOf(t, s)
	if p.PriorityClassName != "high" || len(p.Tolerations) != 3 || p.Tolerations[2].Key != "gateways" || *p.Tolerations[0].TolerationSeconds != 30 {
		t.Errorf("the pod doesn't follow the estate: %+v", p.Tolerations)
	}
	for _, c := range p.Containers {
		if c.Image != "x:1" || c.Resources.Requests.Cpu().String() != "100m" || c.Resources.Limits != nil {
			t.Errorf("%s doesn't follow the estate: %+v", c.Name, c.Resources)
		}
	}
	s.Estate.Pod.Resources = json.RawMessage(`{}`)
	if c := podOf(t, s).Containers[0]; c.Resources.Limits == nil {
		t.Error("empty resources take the default bounds away")
	}
}

func TestAttachment(t *testing.T) {
	s := spec()
	first, err := s.attachment()
	if err != nil {
		t.Fatal(err)
	}
	s.Port.MAC = "fa:16:3e:00:00:18"
	if second, err := s.attachment(); err != nil || second.digest() == first.digest() {
		t.Errorf("another port has the same attachment (%v)", err)
	}
	s.Port.MAC = resource.Unknown
	if third, err := s.attachment(); err != nil || third.digest() != resource.Unknown {
		t.Errorf("an unknown port has the digest %s (%v)", third.digest(), err)
	}
	s = spec()
	s.Estate.NetworkAttachmentTemplate = `{"mac":"{{ .MAC }}","address":"{{.Address}}/{{.Subnet}}","gateway":"{{.Gateway}}"}`
	got, err := s.attachment()
	want := `{"mac":"fa:16:3e:00:00:17","address":"10.254.0.17/10.254.0.0/24","gateway":"10.254.0.1"}`
	if err != nil || string(got) != want {
		t.Errorf("the template gives %s (%v)", got, err)
	}
	for sentence, template := range map[string]string{
		"another name": `{"a":"{{.Mac}}"}`, "no JSON": "{{.MAC}}", "no template": "{{", "a function that calls out": `{{call .MAC}}`,
	} {
		s.Estate.NetworkAttachmentTemplate = template
		if got, err := s.attachment(); err == nil {
			t.Errorf("%s gives %s", sentence, got)
		}
	}
}

// TestAttachmentSetsWhatTheAgentCannot: the settings of the pod's network, on the port
// too, whose interface the plugin calls IFNAME.
func TestAttachmentSetsWhatTheAgentCannot(t *testing.T) {
	config, err := spec().attachment()
	if err != nil {
		t.Fatal(err)
	}
	var list struct {
		Plugins []struct {
			Type    string
			Sysctls map[string]string `json:"sysctl"`
		}
	}
	if err := json.Unmarshal([]byte(config), &list); err != nil {
		t.Fatal(err)
	}
	last := list.Plugins[len(list.Plugins)-1] // once the interface is there
	want := map[string]string{
		"net.ipv4.ip_forward": "1", "net.ipv4.conf.all.rp_filter": "2",
		"net.ipv4.conf.all.send_redirects": "0", "net.ipv4.conf.IFNAME.send_redirects": "0",
	}
	if diff := cmp.Diff(want, last.Sysctls); diff != "" || last.Type != "tuning" {
		t.Errorf("%s (-want +got)\n%s", last.Type, diff)
	}
}

func TestOptionalObjects(t *testing.T) {
	s := spec()
	for _, kind := range []string{"NetworkPolicy/dc1-nic1", "PodMonitor/dc1", "PrometheusRule/dc1"} {
		if objects(t, s)[kind] != nil {
			t.Errorf("%s is there unasked", kind)
		}
	}
	s.Estate.NetworkPolicy, s.Estate.Monitoring = true, vpn.Monitoring{PodMonitor: true, PrometheusRule: true}
	for _, kind := range []string{"NetworkPolicy/dc1-nic1", "PodMonitor/dc1", "PrometheusRule/dc1"} {
		if objects(t, s)[kind] == nil {
			t.Errorf("%s is missing", kind)
		}
	}
}
