package report

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	vpnv1alpha1 "github.com/vpnctl/vpnctl/crds/vpn/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Sizes. An object may have 1.5 MiB in etcd. A peer takes about 210 bytes in the
// list and as much again in the record of who manages which field, so 2,000 peers
// with their figures come to 0.9 MiB.
const (
	maxList    = 512 << 10 // bytes of the list of peers
	maxMessage = 256       // bytes of one message
)

// slack is how far a computed time may move and still be the same: it is now plus or
// minus whole seconds, and both are rounded.
const slack = 5 * time.Second

// content is what the status of one object says, as far as the agent writes it. An
// IPsecGateway's tunnels have the fields of a VPNGateway's peers, but for the
// handshake, which they don't have.
type content struct {
	Peers     []vpnv1alpha1.PeerStatus
	Up        string
	Omitted   int32
	PublicKey string
}

// peerContent is the status of a VPNPeer: its one entry, whose name stays out.
func peerContent(e vpnv1alpha1.PeerStatus) content {
	e.Name = ""
	return content{Peers: []vpnv1alpha1.PeerStatus{e}}
}

// gatewayContent is the status of the gateway, within the size that the API takes.
func gatewayContent(r Report, entries []vpnv1alpha1.PeerStatus) content {
	c := content{Up: summary(r.Peers), PublicKey: r.PublicKey}
	c.Peers, c.Omitted = fit(r.Peers, entries, maxList)
	return c
}

// entry is one peer as status spells it.
func entry(p Peer) vpnv1alpha1.PeerStatus {
	e := vpnv1alpha1.PeerStatus{
		Name: p.Name, State: p.State, Message: short(p.Message), Since: at(p.Since),
		LastHandshake: at(p.LastHandshake), RekeyAt: at(p.RekeyAt),
		BytesIn: count(p.BytesIn), BytesOut: count(p.BytesOut),
	}
	if p.Expected > 0 && p.State != StateUnknown {
		e.Up = fmt.Sprintf("%d of %d", p.Up, p.Expected)
	}
	return e
}

// at gives a time as the API keeps it, in whole seconds.
func at(t time.Time) *metav1.Time {
	if t.IsZero() {
		return nil
	}
	return &metav1.Time{Time: t.UTC().Truncate(time.Second)}
}

func count(n uint64) int64 { return int64(min(n, math.MaxInt64)) }

// short cuts a message to its size, between two characters.
func short(message string) string {
	message = strings.ToValidUTF8(message, "?")
	if len(message) <= maxMessage {
		return message
	}
	end := maxMessage - len("…")
	for !utf8.RuneStart(message[end]) {
		end--
	}
	return message[:end] + "…"
}

// summary counts what is up whole, and what isn't known beside it.
func summary(peers []Peer) string {
	up, unknown := 0, 0
	for _, p := range peers {
		switch {
		case p.State == StateUnknown:
			unknown++
		case p.whole():
			up++
		}
	}
	text := fmt.Sprintf("%d of %d", up, len(peers))
	if unknown > 0 {
		text += fmt.Sprintf(", %d unknown", unknown)
	}
	return text
}

// fit makes a list keep its size, in this order: the peers that are up lose their
// figures, then the last of them are left out. A peer that isn't up whole is always
// listed with its reason, unless those alone are too many; then the last of them
// are left out too.
func fit(peers []Peer, entries []vpnv1alpha1.PeerStatus, limit int) ([]vpnv1alpha1.PeerStatus, int32) {
	if size(entries) <= limit {
		return entries, 0
	}
	entries = slices.Clone(entries)
	for i, p := range peers {
		if p.whole() {
			entries[i] = calm(entries[i])
		}
	}
	keep := make([]bool, len(entries))
	omitted := int32(len(entries))
	left := limit
	for _, whole := range []bool{false, true} {
		for i, e := range entries {
			n := size([]vpnv1alpha1.PeerStatus{e})
			if peers[i].whole() == whole && n <= left {
				keep[i], left, omitted = true, left-n, omitted-1
			}
		}
	}
	var kept []vpnv1alpha1.PeerStatus
	for i, e := range entries {
		if keep[i] {
			kept = append(kept, e)
		}
	}
	return kept, omitted
}

// size of a list as JSON.
func size(entries []vpnv1alpha1.PeerStatus) int {
	data, _ := json.Marshal(entries) // plain fields can't fail
	return len(data)
}

// calm leaves out of an entry what changes all the time: its figures.
func calm(e vpnv1alpha1.PeerStatus) vpnv1alpha1.PeerStatus {
	e.LastHandshake, e.RekeyAt, e.BytesIn, e.BytesOut = nil, nil, 0, 0
	return e
}

// sameState tells whether two contents differ in figures at most.
func (c content) sameState(d content) bool {
	return c.Up == d.Up && c.Omitted == d.Omitted && c.keyed(d) && slices.EqualFunc(c.Peers, d.Peers, func(a, b vpnv1alpha1.PeerStatus) bool {
		return sameEntry(calm(a), calm(b))
	})
}

// same tells whether two contents are one.
func (c content) same(d content) bool {
	return c.Up == d.Up && c.Omitted == d.Omitted && c.keyed(d) && slices.EqualFunc(c.Peers, d.Peers, sameEntry)
}

// keyed tells whether d has c's public key; one that isn't known stays what it was.
func (c content) keyed(d content) bool { return c.PublicKey == "" || c.PublicKey == d.PublicKey }

func sameEntry(a, b vpnv1alpha1.PeerStatus) bool {
	if !a.Since.Equal(b.Since) || !a.LastHandshake.Equal(b.LastHandshake) || !a.RekeyAt.Equal(b.RekeyAt) {
		return false
	}
	return a.Name == b.Name && a.State == b.State && a.Up == b.Up && a.Message == b.Message &&
		a.BytesIn == b.BytesIn && a.BytesOut == b.BytesOut
}

// steady keeps the times that only seem to have moved.
func steady(entries []vpnv1alpha1.PeerStatus, before map[string]vpnv1alpha1.PeerStatus) {
	for i := range entries {
		e, old := &entries[i], before[entries[i].Name]
		if near(e.RekeyAt, old.RekeyAt) {
			e.RekeyAt = old.RekeyAt
		}
		if e.State == old.State && near(e.Since, old.Since) {
			e.Since = old.Since
		}
	}
}

func near(a, b *metav1.Time) bool {
	return a != nil && b != nil && a.Sub(b.Time).Abs() <= slack
}
