//go:build e2e

package lab

import (
	"crypto/ecdh"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"testing"
)

// wireguardLab is the gateway acme/remote with a site and two laptops.
type wireguardLab struct {
	*ipsecLab
	roads              map[string]*road
	private, preshared string
}

const remote = `apiVersion: vpn.bnerd.net/v1alpha1
kind: VPNGateway
metadata: {name: remote, namespace: acme}
spec:
  protocol: wireguard
  wireguard: {listenPort: 51820, privateKeySecretRef: {name: remote-key, key: privateKey}}
  exposures:
    - {name: web, virtualIP: 100.64.0.10, target: {address: 10.20.0.15, ports: [8080]}}
    - {name: echo, virtualIP: 100.64.0.11, target: {address: 10.20.0.16, ports: [7]}}
  reverseExposures:
    - {name: mes, virtualIP: 100.64.0.200, target: {address: 172.20.1.40, ports: [8443]}}
`

// roadManifest is a peer; more is further lines of its WireGuard settings.
func roadManifest(r *road, more, authorization string) string {
	return fmt.Sprintf(`apiVersion: vpn.bnerd.net/v1alpha1
kind: VPNPeer
metadata: {name: %s, namespace: acme}
spec:
  gatewayRef: remote
  wireguard:
    publicKey: %s
    %s
  authorization: %s
`, r.name, r.public, more, authorization)
}

const (
	siteSettings   = "endpoint: site.lab.example:51820\n    subnets: [172.20.1.0/24]\n    persistentKeepalive: 5"
	laptopASetting = "address: 100.64.0.199"
	laptopBSetting = "address: 100.64.0.198\n    presharedKeySecretRef: {name: laptop-b-psk, key: psk}"
)

func newWireGuardLab(t *testing.T) *wireguardLab {
	t.Helper()
	l := &wireguardLab{
		ipsecLab: &ipsecLab{
			lab:    &lab{keys: map[string][]byte{}, fabric: newFabric(t), cluster: newCluster(t), estate: newEstate(t, "wireguardDataplane: userspace")},
			plants: map[string]*customer{}, webs: map[string]*web{},
		},
		roads: map[string]*road{},
	}
	l.roads["site"] = newRoad(t, l.fabric, "site", "198.51.100.20", "172.20.1")
	l.roads["laptop-a"] = newRoad(t, l.fabric, "laptop-a", "198.51.100.31", "")
	l.roads["laptop-b"] = newRoad(t, l.fabric, "laptop-b", "198.51.100.32", "")
	l.roads["laptop-a"].inner, l.roads["laptop-b"].inner = "100.64.0.199", "100.64.0.198"
	l.webs["web"] = serveWeb(t, l.fabric.services, "web", "10.20.0.15:8080")
	l.webs["other"] = serveWeb(t, l.fabric.services, "other", "10.20.0.15:8081")
	l.webs["mes"] = serveWeb(t, l.roads["site"].host, "mes", "172.20.1.40:8443")
	l.fabric.services.Echo(t, "10.20.0.16:7")
	l.cluster.names.set("site.lab.example", "198.51.100.20")
	l.estate.write(t, "remote.yaml", remote)
	l.estate.write(t, "site.yaml", roadManifest(l.roads["site"], siteSettings, "{exposures: [web, echo], reverseExposures: [mes]}"))
	l.estate.write(t, "laptop-a.yaml", roadManifest(l.roads["laptop-a"], laptopASetting, "{exposures: [web, echo]}"))
	l.estate.write(t, "laptop-b.yaml", roadManifest(l.roads["laptop-b"], laptopBSetting, "{exposures: [web]}"))
	l.estate.apply(t)
	l.pod = newPod(t, l.lab, "acme", "remote")
	l.cluster.declare(t, l.pod)
	own, err := ecdh.X25519().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	l.private, l.preshared = base64.StdEncoding.EncodeToString(own.Bytes()), presharedKey()
	l.secrets = append(l.secrets, []byte(l.private), []byte(l.preshared))
	l.cluster.api.SetSecret("acme", "remote-key", map[string][]byte{"privateKey": []byte(l.private + "\n")})
	public := base64.StdEncoding.EncodeToString(own.PublicKey().Bytes())
	gateway := l.pod.rendered.expect.PublicAddress + ":51820"
	l.roads["site"].configure(t, public, "", "") // the gateway speaks first
	l.roads["laptop-a"].configure(t, public, gateway, "")
	l.roads["laptop-b"].configure(t, public, gateway, l.preshared)
	l.pod.start(t)
	return l
}

func TestWireGuard(t *testing.T) {
	t.Parallel()
	l := newWireGuardLab(t)
	for _, s := range []struct {
		name string
		run  func(*wireguardLab, *testing.T)
	}{
		{"containers are confined as the Deployment says", func(l *wireguardLab, t *testing.T) { l.confinement(t) }},
		{"peers come up, each with its own keys", (*wireguardLab).comesUp},
		{"what is exposed is reached, and with which source", (*wireguardLab).forwards},
		{"each hop sees the source that it should", (*wireguardLab).sources},
		{"nothing else is reached", (*wireguardLab).closed},
		{"a grant is revoked", (*wireguardLab).grants},
		{"a change of one peer is no other peer's concern", (*wireguardLab).reload},
		{"a peer that roams", (*wireguardLab).roams},
		{"an endpoint's name that moves", (*wireguardLab).moves},
		{"the dataplane half dies", (*wireguardLab).dies},
		{"nobody is busy at rest", func(l *wireguardLab, t *testing.T) { l.idle(t) }},
		{"sizes and requests", func(l *wireguardLab, t *testing.T) { l.sizes(t) }},
		{"no secret is anywhere", func(l *wireguardLab, t *testing.T) { l.secrecy(t) }},
	} {
		if !t.Run(s.name, func(t *testing.T) { s.run(l, t) }) {
			return
		}
	}
}
