//go:build e2e

package lab

import (
	"fmt"
	"testing"
	"time"

	"github.com/vpnctl/vpnctl/agent/lab/netns"
)

// approved: each proposal, as IKE and as ESP, with a customer who writes the ESP one
// without a pseudo-random function, which it doesn't need. The key exchange of ESP is
// used from the first rekeying on.
func (l *ipsecLab) approved(t *testing.T) {
	second, public := l.plants["plant2"], l.pod.rendered.expect.PublicAddress
	for _, c := range []struct {
		proposal string
		stock    string // ESP, as customers write it
		shown    string // of ESP, by swanctl
	}{
		{"aes256-sha512-ecp384", "aes256-sha512-ecp384", "AES_CBC-256/HMAC_SHA2_512_256/ECP_384"},
		{"aes256gcm16-prfsha384-ecp384", "aes256gcm16-ecp384", "AES_GCM_16-256/ECP_384"},
		{"aes256gcm16-prfsha256-ecp256", "aes256gcm16-ecp256", "AES_GCM_16-256/ECP_256"},
		{"aes256-sha256-ecp256", "aes256-sha256-ecp256", "AES_CBC-256/HMAC_SHA2_256_128/ECP_256"},
	} {
		second.configure(t, public, l.keys["plant2"], proposals{c.proposal, c.stock})
		l.edit(t, map[string]string{
			"dc1.yaml": fmt.Sprintf(dc1, c.proposal), "plant2.yaml": plantManifest(second, proposals{c.proposal, c.proposal}, "{exposures: [web]}"),
		})
		l.renew(t, second)
		netns.Eventually(t, c.proposal+" is up", 60*time.Second, func() bool {
			return contains(second.sas(t), "INSTALLED") && l.up("plant2")
		})
		second.charon.Swanctl(t, "--rekey", "--child", "net-192-168-20")
		netns.Eventually(t, "and is rekeyed", 10*time.Second, func() bool { return contains(second.sas(t), c.shown) })
		l.reach(t, "web", "192.168.20.40")
	}
}
