//go:build e2e

package vici

import (
	"testing"
	"time"

	"github.com/vpnctl/vpnctl/agent/lab/netns"
)

// TestAnotherKeyCountsFromTheNextAuthentication: a rekey is none, so with another key on
// one side the tunnel goes on; once both have it, the command of the README lets them
// authenticate anew, and the tunnel is up again.
func TestAnotherKeyCountsFromTheNextAuthentication(t *testing.T) {
	c := tunnel("plant", 1)
	gateway, peer, s, sa := established(t, c)
	if err := s.LoadKey(t.Context(), c.Name, []string{c.LocalID, c.RemoteID}, []byte("another")); err != nil {
		t.Fatal(err)
	}
	another := func(before SA) SA {
		t.Helper()
		var now SA
		netns.Eventually(t, "another IKE SA", 20*time.Second, func() bool {
			now = up(t, s, c)
			return now.ID != before.ID
		})
		return now
	}
	gateway.Swanctl(t, "--rekey", "--ike", "plant")
	rekeyed := another(sa)
	if was, is := sa.Children[0].ID, rekeyed.Children[0].ID; was != is {
		t.Errorf("the child is %d, was %d", is, was)
	}
	peer.serves(t, []byte("another"), c)
	gateway.Swanctl(t, "--rekey", "--ike", "plant", "--reauth")
	if was, is := rekeyed.Children[0].ID, another(rekeyed).Children[0].ID; was == is {
		t.Errorf("the child is %d still: nobody has authenticated", is)
	}
	peer.serves(t, []byte("a third one"), c)
	gateway.Swanctl(t, "--rekey", "--ike", "plant", "--reauth")
	netns.Eventually(t, "with another key on one side it is down", 20*time.Second, func() bool {
		all, err := s.SAs(t.Context())
		return err == nil && len(all) == 0
	})
}
