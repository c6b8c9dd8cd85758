//go:build e2e

package lab

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/vpnctl/vpnctl/agent/lab/netns"
)

// renew ends a peer's tunnel from the customer's side, so that the next one has to
// authenticate anew.
func (l *ipsecLab) renew(t *testing.T, c *customer) {
	t.Helper()
	if out, err := netns.Output("swanctl", "--terminate", "--ike", "gateway", "--force", "--uri", c.charon.URI()); err != nil && !contains(out, "no matching") {
		t.Fatal(err)
	}
}

// rotation: another key on both sides is used from the next authentication on; a wrong
// one shows in status, with the reason.
func (l *ipsecLab) rotation(t *testing.T) {
	second, public := l.plants["plant2"], l.pod.rendered.expect.PublicAddress
	starts, _ := l.pod.container("charon").count()
	l.untouched(t, func() {
		key := l.key("plant2")
		second.configure(t, public, []byte("not what the gateway has"), usual)
		l.renew(t, second)
		netns.Eventually(t, "a wrong key shows in status", 60*time.Second, func() bool {
			s := l.cluster.status(l.pod, "plant2")
			return s.State != "ESTABLISHED" && contains(s.Message, "AUTHENTICATION_FAILED")
		})
		second.configure(t, public, key, usual)
		netns.Eventually(t, "the new key on both sides is used", 90*time.Second, func() bool { return l.up("plant2") })
		l.reach(t, "web", "192.168.20.40")
	}, "plant1")
	if now, _ := l.pod.container("charon").count(); now != starts {
		t.Error("charon was restarted for a key")
	}
}

// hostile: keys of every kind reach charon as the bytes that they are.
func (l *ipsecLab) hostile(t *testing.T) {
	second, public := l.plants["plant2"], l.pod.rendered.expect.PublicAddress
	for _, c := range []struct {
		sentence string
		key      []byte
	}{
		{"looks like hexadecimal, ends with a newline", []byte("0x6162\n")},
		{"looks like base64, with quotes, braces, # and $", []byte("0sYWJj \"}{ 'x' # ${HOME} = \\")},
		{"4 KiB that are no text", bytes.Repeat([]byte{0xff, 0x00, 0xfe, '\n', 0x80, 0x22, 0x7d, 0x23}, 512)},
	} {
		l.setKey("plant2", c.key)
		second.configure(t, public, c.key, usual)
		l.renew(t, second)
		netns.Eventually(t, "a key that "+c.sentence, 75*time.Second, func() bool {
			return l.up("plant2") && contains(second.sas(t), "INSTALLED")
		})
	}
}

// forms are the ways in which a secret might stand somewhere: as it is, without what is
// around it, in base64 and in hexadecimal digits.
func forms(secret []byte) []string {
	var all []string
	for _, s := range [][]byte{secret, bytes.TrimSpace(secret), bytes.TrimSpace(bytes.Trim(bytes.TrimSpace(secret), `"'{}#`))} {
		all = append(all, string(s), base64.StdEncoding.EncodeToString(s), hex.EncodeToString(s))
	}
	return all
}

// secrecy: no secret is in any file, log, metric or object.
func (l *ipsecLab) secrecy(t *testing.T) {
	places := map[string]string{}
	for _, c := range l.pod.containers {
		places["log of "+c.spec.Name] = c.log.String()
	}
	metrics, err := l.pod.get(9903, "/metrics", answerWithin)
	if err != nil || !contains(metrics, "vpnctl_tunnel_up") {
		t.Fatalf("metrics: %v\n%s", err, metrics)
	}
	places["metrics"] = metrics
	places["status of the gateway"] = string(l.cluster.api.Object("vpngateways", l.pod.namespace, l.pod.name))
	for _, r := range l.cluster.api.Requests() {
		places["request for "+r.Resource+"/"+r.Name] += string(r.Body)
	}
	for _, root := range []string{l.pod.dir, l.estate.dir} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() || filepath.Base(path) == "token" {
				return err
			}
			if path == filepath.Join(l.pod.memory, "keys.json") || path == filepath.Join(l.pod.memory, "secrets.json") {
				return onlyForRoot(d)
			}
			data, err := os.ReadFile(path)
			places[path] = string(data)
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
	if len(places) < 15 {
		t.Errorf("only %d places to look at", len(places))
	}
	secrets := append([][]byte{[]byte(l.pod.account.Token())}, l.secrets...)
	for place, text := range places {
		for i, s := range secrets {
			for _, form := range forms(s) {
				if len(form) > 5 && contains(text, form) {
					t.Errorf("%s holds secret %d", place, i)
				}
			}
		}
	}
	t.Logf("%d secrets in three notations: in none of %d places", len(secrets), len(places))
}

// onlyForRoot: the keys on their way from one half of the agent to the other are for
// nobody else to read.
func onlyForRoot(d fs.DirEntry) error {
	stat, err := d.Info()
	if err == nil && stat.Mode().Perm() != 0o600 {
		err = fmt.Errorf("%s has the mode %s", d.Name(), stat.Mode())
	}
	return err
}

// sizes: nothing came near the limit of its memory, and nothing but what the Role
// grants was asked of the API.
func (l *ipsecLab) sizes(t *testing.T) {
	for _, c := range l.pod.containers {
		limit := uint64(c.spec.Resources.Limits.Memory().Value())
		c.mu.Lock()
		peak := c.peak
		c.mu.Unlock()
		t.Logf("%-58s %4d MiB  (limit %d MiB)", c.spec.Name+": peak of its memory", peak>>20, limit>>20)
		if peak == 0 || peak > limit/2 {
			t.Errorf("%s has used %d bytes of %d", c.spec.Name, peak, limit)
		}
	}
	for _, r := range l.cluster.api.Unexpected() {
		t.Errorf("asked of the API: %s %s/%s: %s", r.Verb, r.Resource, r.Name, r.Unexpected)
	}
}
