//go:build e2e

package lab

import (
	"strings"
	"testing"
	"time"

	"github.com/vpnctl/vpnctl/agent/lab/netns"
)

// leaves: a network of a peer is taken away, and then the peer, with flows in both
// directions. They end, and nothing of them is seen outside the tunnel, though charon
// has taken its routes away. Nobody else notices.
func (l *ipsecLab) leaves(t *testing.T) {
	plant := l.plants["plant1"]
	l.edit(t, map[string]string{"plant2.yaml": plantManifest(l.plants["plant2"], usual, "{exposures: [web, echo]}")})
	netns.Eventually(t, "a grant opens", 5*time.Second, func() bool {
		c, err := l.plants["plant2"].host.Dial("", "100.64.0.11:7", time.Second)
		if err == nil {
			c.Close()
		}
		return err == nil
	})
	bystander := l.plants["plant2"].host.Stream(t, "", "100.64.0.11:7")
	narrow := *plant
	narrow.networks = plant.networks[:1]
	for _, c := range []struct{ what, source, manifest string }{
		{"a network", "192.168.11.40", plantManifest(&narrow, usual, everything)},
		{"a peer", "192.168.10.40", ""},
	} {
		var streams []*netns.Stream
		for range 10 {
			streams = append(streams, plant.host.Stream(t, c.source, "100.64.0.11:7"))
			if c.manifest == "" {
				streams = append(streams, l.fabric.host.Stream(t, "", "100.64.0.201:7"))
			}
		}
		time.Sleep(500 * time.Millisecond)
		outside := map[string]*netns.Capture{"the port": l.fabric.ns.Capture(t, "port-dc1"), "the cluster": l.cluster.ns.Capture(t, "to-dc1")}
		l.edit(t, map[string]string{"plant1.yaml": c.manifest})
		for _, s := range streams[:min(2, len(streams))] {
			ends(t, c.what+" that leaves ends its flows", s)
		}
		for where, capture := range outside {
			for _, p := range capture.End() {
				if strings.HasPrefix(p.Destination.String(), "192.168.") { // what the customer lets out is its own
					t.Errorf("%s leaves: in the clear, by %s: %+v", c.what, where, p)
				}
			}
		}
		l.edit(t, map[string]string{"plant1.yaml": plantManifest(plant, usual, everything)})
		netns.Eventually(t, "the peer is whole again", time.Minute, func() bool {
			_, err := fetch(plant.host, c.source, "100.64.0.10:8080", "/", time.Second)
			return err == nil && l.up("plant1")
		})
	}
	l.undisturbed(t, "another peer's connection, through all of this", bystander)
	l.edit(t, map[string]string{"plant2.yaml": plantManifest(l.plants["plant2"], usual, "{exposures: [web]}")})
}
