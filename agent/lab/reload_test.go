//go:build e2e

package lab

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/agent/lab/netns"
	"github.com/vpnctl/vpnctl/agent/vici"
)

// association is what stays the same as long as nobody touches an SA.
type association struct {
	Connection string
	ID         uint32
	Children   []uint32
}

// associations are the gateway's SAs of some peers, and the bytes that each child has
// carried.
func (l *ipsecLab) associations(t *testing.T, peers ...string) (all []association, carried map[uint32]uint64) {
	t.Helper()
	s, err := vici.Dial(t.Context(), l.pod.memory+"/charon.vici")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	sas, err := s.SAs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	carried = map[uint32]uint64{}
	for _, sa := range sas {
		if !slices.Contains(peers, sa.Connection) {
			continue
		}
		a := association{Connection: sa.Connection, ID: sa.ID}
		for _, c := range sa.Children {
			a.Children = append(a.Children, c.ID)
			carried[c.ID] = c.BytesIn + c.BytesOut
		}
		slices.Sort(a.Children)
		all = append(all, a)
	}
	slices.SortFunc(all, func(a, b association) int { return int(a.ID) - int(b.ID) })
	return all, carried
}

// untouched runs f, and wants the peers' SAs to be the same ones afterwards, with
// counters that have not begun anew.
func (l *ipsecLab) untouched(t *testing.T, f func(), peers ...string) {
	t.Helper()
	before, carried := l.associations(t, peers...)
	f()
	after, since := l.associations(t, peers...)
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("SAs that nobody should touch (-before +after)\n%s", diff)
	}
	for id, bytes := range carried {
		if since[id] < bytes {
			t.Errorf("child %d has carried %d bytes, after %d", id, since[id], bytes)
		}
	}
}

// reload: one of three peers is added, changed and removed; the others notice nothing.
func (l *ipsecLab) reload(t *testing.T) {
	third := l.plants["plant3"]
	transfer := l.plants["plant1"].host.Stream(t, "192.168.10.40", "100.64.0.11:7")
	l.untouched(t, func() {
		// Its Secret comes later: that is nobody else's concern.
		l.edit(t, map[string]string{"plant3.yaml": plantManifest(third, usual, "{exposures: [web]}")})
		netns.Eventually(t, "status names the Secret that is missing", 20*time.Second, func() bool {
			s := l.cluster.status(l.pod, "plant3")
			return contains(s.Message, "plant3-psk")
		})
		third.configure(t, l.pod.rendered.expect.PublicAddress, l.key("plant3"), usual)
		netns.Eventually(t, "the Secret appears, and the peer comes up", 60*time.Second, func() bool { return l.up("plant3") })
		l.reach(t, "web", "192.168.30.40")

		third.networks = []string{"192.168.30", "192.168.31"}
		third.ns.IP(t, "addr add 192.168.31.1/24 dev lan")
		third.host.IP(t, "addr add 192.168.31.40/24 dev eth0")
		third.configure(t, l.pod.rendered.expect.PublicAddress, l.keys["plant3"], usual)
		l.edit(t, map[string]string{"plant3.yaml": plantManifest(third, usual, "{exposures: [web]}")})
		netns.Eventually(t, "a second subnet of a peer is reached", 40*time.Second, func() bool {
			_, err := fetch(third.host, "192.168.31.40", "100.64.0.10:8080", "/", time.Second)
			return err == nil
		})

		l.edit(t, map[string]string{"plant3.yaml": plantManifest(third, usual, "{exposures: [web, echo]}")})
		netns.Eventually(t, "it is granted another exposure", 5*time.Second, func() bool {
			c, err := third.host.Dial("", "100.64.0.11:7", time.Second)
			if err == nil {
				c.Close()
			}
			return err == nil
		})
		victim := third.host.Stream(t, "", "100.64.0.11:7")
		time.Sleep(500 * time.Millisecond)
		l.edit(t, map[string]string{"plant3.yaml": ""})
		ends(t, "a peer that is removed has no connection left", victim)
		netns.Eventually(t, "a removed peer's tunnels are gone", 10*time.Second, func() bool {
			all, _ := l.associations(t, "plant3")
			return len(all) == 0
		})
		refused(t, attempt{"an exposure, by a peer that is removed", third.host, "", "100.64.0.10:8080"})
	}, "plant1", "plant2")
	l.undisturbed(t, "a transfer of another peer", transfer)
}
