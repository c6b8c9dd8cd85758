//go:build e2e

package lab

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/vpnctl/vpnctl/agent/lab/netns"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// ipsecLab is the gateway acme/dc1 with its customers.
type ipsecLab struct {
	*lab
	pod    *pod
	plants map[string]*customer
	webs   map[string]*web
}

const dc1 = `apiVersion: vpn.bnerd.net/v1alpha1
kind: VPNGateway
metadata: {name: dc1, namespace: acme}
spec:
  protocol: ipsec
  ipsec: {ike: {version: 2, proposals: [%s]}}
  exposures:
    - {name: web, virtualIP: 100.64.0.10, target: {address: 10.20.0.15, ports: [8080]}}
    - {name: echo, virtualIP: 100.64.0.11, target: {address: 10.20.0.16, ports: [7]}}
    - {name: erp, virtualIP: 100.64.0.12, target: {host: erp.lab.example, ports: [8080]}}
  reverseExposures:
    - {name: mes, virtualIP: 100.64.0.200, target: {address: 192.168.10.40, ports: [8443]}}
    - {name: pulse, virtualIP: 100.64.0.201, target: {address: 192.168.10.40, ports: [7]}}
`

// plantManifest is the peer of a customer; authorization is one line of YAML, or
// nothing.
func plantManifest(c *customer, p proposals, authorization string) string {
	text := fmt.Sprintf(`apiVersion: vpn.bnerd.net/v1alpha1
kind: VPNPeer
metadata: {name: %s, namespace: acme}
spec:
  gatewayRef: dc1
  ipsec:
    peer: {address: %s, id: %s}
    remoteSubnets: [%s.0/24]
    esp: {proposals: [%s]}
    pskSecretRef: {name: %s-psk, key: psk}
`, c.name, c.address, c.id, strings.Join(c.networks, ".0/24, "), p.esp, c.name)
	if authorization != "" {
		text += "  authorization: " + authorization + "\n"
	}
	return text
}

// step is a subtest that goes on from the one before it.
type step struct {
	name string
	run  func(*ipsecLab, *testing.T)
}

func (l *ipsecLab) run(t *testing.T, steps ...step) {
	for _, s := range steps {
		if !t.Run(s.name, func(t *testing.T) { s.run(l, t) }) {
			return
		}
	}
}

// TestIPsec begins with one peer.
func TestIPsec(t *testing.T) {
	t.Parallel()
	l := newIPsecLab(t, map[string]string{"plant1": ""})
	l.run(t, []step{
		{"containers are confined as the Deployment says", (*ipsecLab).confinement},
		{"tunnels come up by themselves", (*ipsecLab).comesUp},
		{"what is exposed is reached, and with which source", (*ipsecLab).forwards},
		{"each hop sees the source that it should", (*ipsecLab).sources},
		{"nothing else is reached", (*ipsecLab).closed},
		{"access is by grants, and ends with them", (*ipsecLab).grants},
		{"a change of one peer is no other peer's concern", (*ipsecLab).reload},
		{"files that are broken, or change twice", (*ipsecLab).files},
		{"names that move", (*ipsecLab).moves},
		{"nobody is busy at rest", (*ipsecLab).idle},
		{"sizes and requests", (*ipsecLab).sizes},
		{"no secret is anywhere", (*ipsecLab).secrecy},
	}...)
}

// TestIPsecFaults has two peers, and something breaks.
func TestIPsecFaults(t *testing.T) {
	t.Parallel()
	l := newIPsecLab(t, map[string]string{"plant1": everything, "plant2": "{exposures: [web]}"})
	l.run(t, []step{
		{"tunnels come up by themselves", (*ipsecLab).comesUp},
		{"what leaves is not seen in the clear", (*ipsecLab).leaves},
		{"the agent killed at random", (*ipsecLab).kills},
		{"an API server that is away", (*ipsecLab).apiAway},
		{"a charon that dies", (*ipsecLab).charonDies},
		{"a peer that is away", (*ipsecLab).peerAway},
		{"a peer that starts anew without a word", (*ipsecLab).diesSilently},
		{"charon and the agent die while the API server is away", (*ipsecLab).nobodyToAsk},
		{"a charon that hangs", (*ipsecLab).charonHangs},
		{"a network that goes from a silent peer to another", (*ipsecLab).networkMoves},
		{"sizes and requests", (*ipsecLab).sizes},
		{"no secret is anywhere", (*ipsecLab).secrecy},
	}...)
}

// TestIPsecLong has two peers, and what breaks stays so for minutes.
func TestIPsecLong(t *testing.T) {
	t.Parallel()
	l := newIPsecLab(t, map[string]string{"plant1": everything, "plant2": "{exposures: [web]}"})
	l.run(t, []step{
		{"tunnels come up by themselves", (*ipsecLab).comesUp},
		{"an API server that is away for ten minutes, and a peer for five", (*ipsecLab).longAway},
		{"no secret is anywhere", (*ipsecLab).secrecy},
	}...)
}

// TestIPsecKeys has two peers, and keys and proposals change.
func TestIPsecKeys(t *testing.T) {
	t.Parallel()
	l := newIPsecLab(t, map[string]string{"plant1": everything, "plant2": "{exposures: [web]}"})
	l.run(t, []step{
		{"tunnels come up by themselves", (*ipsecLab).comesUp},
		{"keys that change", (*ipsecLab).rotation},
		{"keys of every kind", (*ipsecLab).hostile},
		{"every approved proposal", (*ipsecLab).approved},
		{"no secret is anywhere", (*ipsecLab).secrecy},
	}...)
}

// newIPsecLab is everything, with the peers that are there from the beginning, and
// what each of them is granted.
func newIPsecLab(t *testing.T, authorizations map[string]string) *ipsecLab {
	t.Helper()
	l := &ipsecLab{
		lab:    &lab{keys: map[string][]byte{}, fabric: newFabric(t), cluster: newCluster(t), estate: newEstate(t, "ipsecDataplane: userspace")},
		plants: map[string]*customer{}, webs: map[string]*web{},
	}
	l.plants["plant1"] = newCustomer(t, l.fabric, "plant1", "198.51.100.7", "192.168.10", "192.168.11")
	l.plants["plant2"] = newCustomer(t, l.fabric, "plant2", "198.51.100.8", "192.168.20")
	l.plants["plant3"] = newCustomer(t, l.fabric, "plant3", "198.51.100.9", "192.168.30")
	for name, at := range map[string]string{"web": "10.20.0.15:8080", "other": "10.20.0.15:8081", "erp": "10.20.0.17:8080", "erp2": "10.20.0.18:8080"} {
		l.webs[name] = serveWeb(t, l.fabric.services, name, at)
	}
	l.webs["mes"] = serveWeb(t, l.plants["plant1"].host, "mes", "192.168.10.40:8443")
	l.webs["mes-other"] = serveWeb(t, l.plants["plant1"].host, "mes-other", "192.168.10.40:8444")
	l.fabric.services.Echo(t, "10.20.0.16:7")
	l.plants["plant1"].host.Echo(t, "192.168.10.40:7")
	l.cluster.names.set("erp.lab.example", "10.20.0.17")
	l.estate.write(t, "dc1.yaml", fmt.Sprintf(dc1, usual.ike))
	for name, authorization := range authorizations {
		l.estate.write(t, name+".yaml", plantManifest(l.plants[name], usual, authorization))
	}
	l.begin(t)
	return l
}

// begin applies the manifests, gives the customers what they need, and starts the pod.
func (l *ipsecLab) begin(t *testing.T) {
	t.Helper()
	l.estate.apply(t)
	l.pod = newPod(t, l.lab, "acme", "dc1")
	l.cluster.declare(t, l.pod)
	for _, p := range l.pod.rendered.expect.Peers {
		l.plants[p.Name].configure(t, l.pod.rendered.expect.PublicAddress, l.key(p.Name), usual)
	}
	l.pod.start(t)
}

// up tells whether the status says that all of a peer's tunnels are up.
func (l *ipsecLab) up(peer string) bool {
	return l.cluster.status(l.pod, peer).State == "ESTABLISHED"
}

func (l *ipsecLab) comesUp(t *testing.T) {
	netns.Eventually(t, "every container is ready", time.Minute, l.pod.ready)
	for _, p := range l.pod.rendered.expect.Peers {
		netns.Eventually(t, p.Name+" is up in the gateway's status", 30*time.Second, func() bool { return l.up(p.Name) })
	}
	if sas := l.plants["plant1"].sas(t); strings.Count(sas, "INSTALLED") != 2 {
		t.Errorf("plant1 doesn't have two tunnels\n%s", sas)
	}
}

// forwards: client to service, host to the customer's service, and what each side
// sees of the other.
func (l *ipsecLab) forwards(t *testing.T) {
	host := l.plants["plant1"].host
	port, gateway := l.pod.rendered.expect.Port.Address, "100.64.0.1"
	for sentence, c := range map[string]struct {
		from     netns.Namespace
		source   string
		to, want string
	}{
		"a service with an address":           {host, "192.168.10.40", "100.64.0.10:8080", "web for " + port},
		"through the second tunnel":           {host, "192.168.11.40", "100.64.0.10:8080", "web for " + port},
		"a service with a name":               {host, "192.168.10.40", "100.64.0.12:8080", "erp for " + port},
		"the customer's service, from a host": {l.fabric.host, "", "100.64.0.200:8443", "mes for " + gateway},
	} {
		if got, err := fetch(c.from, c.source, c.to, "/", 5*time.Second); err != nil || got != c.want {
			t.Errorf("%s: want %q, got %q (%v)", sentence, c.want, got, err)
		}
	}
}

// gateway is what names of objects follow from.
func (l *ipsecLab) gateway() vpn.Gateway {
	return vpn.Gateway{Owner: l.pod.rendered.expect.Gateway, Protocol: l.pod.rendered.expect.Protocol}
}
