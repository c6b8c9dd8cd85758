package report

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	vpnv1alpha1 "github.com/vpnctl/vpnctl/crds/vpn/v1alpha1"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

func TestSummary(t *testing.T) {
	peers := []Peer{
		{State: "ESTABLISHED", Up: 2, Expected: 2}, {State: "ESTABLISHED", Up: 1, Expected: 2},
		{State: StateDown, Expected: 1}, {State: StateUnknown, Up: 1, Expected: 1}, {State: "ESTABLISHED", Up: 3, Expected: 2},
	}
	for n, want := range []string{"0 of 0", "1 of 1", "1 of 2", "1 of 3", "1 of 4, 1 unknown", "2 of 5, 1 unknown"} {
		if got := summary(peers[:n]); got != want {
			t.Errorf("%d peers: %q, want %q", n, got, want)
		}
	}
}

func TestMessagesAreShort(t *testing.T) {
	for sentence, c := range map[string]struct{ message, want string }{
		"what fits stays":                    {strings.Repeat("é", 128), strings.Repeat("é", 128)},
		"what doesn't is cut at a character": {strings.Repeat("é", 129), strings.Repeat("é", 126) + "…"},
		"bytes that are no text":             {"a\xffb", "a?b"},
	} {
		if got := short(c.message); got != c.want || !utf8.ValidString(got) || len(got) > maxMessage {
			t.Errorf("%s: %d bytes, %q", sentence, len(got), got)
		}
	}
}

func estate(n int, name, message string, each func(i int) bool) (peers []Peer, entries []vpnv1alpha1.PeerStatus) {
	for i := range n {
		p := Peer{
			Name: fmt.Sprintf(name, i), State: "ESTABLISHED", Up: 1, Expected: 1, Since: noon, LastHandshake: noon, RekeyAt: noon,
			BytesIn: 123456789012, BytesOut: 123456789012,
		}
		if !each(i) {
			p.State, p.Up, p.Message = StateDown, 0, message
		}
		peers, entries = append(peers, p), append(entries, entry(p))
	}
	return peers, entries
}

// managed is what the API server adds to an object for its entries: who manages which
// field of each.
func managed(entries []vpnv1alpha1.PeerStatus) int {
	n := 0
	for _, e := range entries {
		data, _ := json.Marshal(e)
		var fields map[string]any
		json.Unmarshal(data, &fields)
		n += len(`"k:{\"name\":\"\"}":{".":{}},`) + len(e.Name)
		for f := range fields {
			n += len(`,"f:":{}`) + len(f)
		}
	}
	return n
}

// Whatever the number of peers, the object fits, with room for a large spec; what is
// down is listed with its reason, and what isn't listed is counted.
func TestStatusFits(t *testing.T) {
	const etcd, spec = 1536 << 10, 200 << 10
	long := strings.Repeat("n", 58) + "%05d"
	for sentence, c := range map[string]struct {
		peers      int
		name       string
		message    string
		up         func(int) bool
		whole      bool // nothing is left out, figures included
		allOfThose bool // that are down are listed
	}{
		"2,000 peers have all figures":      {2000, "peer-%05d", "no answer", func(i int) bool { return i%10 > 0 }, true, true},
		"2,000 peers with the longest name": {2000, long, "no answer", func(i int) bool { return i%10 > 0 }, false, true},
		"20,000 peers, some down":           {20000, "peer-%05d", "no answer", func(i int) bool { return i%50 > 0 }, false, true},
		"20,000 peers, all up":              {20000, "p%05d", "", func(int) bool { return true }, false, true},
		"10,000 peers, all down at length":  {10000, long, strings.Repeat("é", 200), func(int) bool { return false }, false, false},
	} {
		t.Run(sentence, func(t *testing.T) {
			peers, entries := estate(c.peers, c.name, c.message, c.up)
			g := gatewayContent(Report{Gateway: vpn.Owner{Kind: vpn.KindVPNGateway}, Peers: peers}, entries)
			data := object{Kind: vpn.KindVPNGateway}.patch(g)
			t.Logf("%d bytes, %d of managed fields, %d left out", len(data), managed(g.Peers), g.Omitted)
			if total := len(data) + managed(g.Peers) + spec; total > etcd {
				t.Errorf("%d bytes in all", total)
			}
			if len(g.Peers)+int(g.Omitted) != c.peers {
				t.Errorf("%d listed, %d left out", len(g.Peers), g.Omitted)
			}
			if c.whole {
				if diff := cmp.Diff(entries, g.Peers); diff != "" {
					t.Errorf("(-want +got)\n%s", diff)
				}
			}
			listed, down := 0, 0
			for _, e := range g.Peers {
				if e.Message != "" {
					listed++
				}
			}
			for i := range c.peers {
				if !c.up(i) {
					down++
				}
			}
			if c.allOfThose && listed != down {
				t.Errorf("%d of %d that are down are listed", listed, down)
			}
		})
	}
}

// What the API keeps of a patch reads as what was written.
func TestPatchReadsBack(t *testing.T) {
	e := entry(Peer{Name: "a", State: "ESTABLISHED", Up: 1, Expected: 2, Message: "m", Since: noon, LastHandshake: noon.Add(time.Millisecond), RekeyAt: noon, BytesIn: 1, BytesOut: 2})
	for kind, c := range map[string]content{
		vpn.KindVPNGateway:   {Peers: []vpnv1alpha1.PeerStatus{e}, Up: "0 of 1", Omitted: 3, PublicKey: "k"},
		vpn.KindIPsecGateway: {Peers: []vpnv1alpha1.PeerStatus{e}, Up: "0 of 1"},
		"VPNPeer":            peerContent(e),
	} {
		o := object{Kind: kind}
		got, err := o.read(o.patch(c))
		if err != nil || !c.same(got) || !got.same(c) {
			t.Errorf("%s: %v\n%s", kind, err, cmp.Diff(c, got))
		}
		if got.Peers[0].BytesIn++; c.same(got) || !c.sameState(got) {
			t.Errorf("%s: another counter is another state, or none", kind)
		}
		if got.Peers[0].Message = "n"; c.sameState(got) {
			t.Errorf("%s: another message is the same state", kind)
		}
	}
}

// One tick of a large gateway is little work for the agent.
func BenchmarkTake(b *testing.B) {
	for _, n := range []int{200, 2000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			c := &Cluster{}
			peers, _ := estate(n, "peer-%05d", "", func(int) bool { return true })
			for i := 0; b.Loop(); i++ {
				peers[i%n].BytesIn++
				c.take(Report{Gateway: vpn.Owner{Kind: vpn.KindVPNGateway}, Peers: peers})
			}
		})
	}
}
