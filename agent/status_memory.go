package agent

import (
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"time"

	"github.com/vpnctl/vpnctl/agent/report"
	"github.com/vpnctl/vpnctl/agent/vici"
	"github.com/vpnctl/vpnctl/agent/volume"
	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/render/swanctl"
)

// memory is what charon and a WireGuard device forget: totals over rekeys, since when
// a peer is in its state, and with which settings its SAs were negotiated. It goes on
// when the agent is started anew, because it stands in the memory volume.
type memory struct {
	Peers map[string]*record

	// negotiated are the settings with which the SAs that are up came about, by
	// connection. They differ from what is loaded where a change isn't in force yet.
	negotiated map[string]swanctl.Connection
	written    map[string]swanctl.Connection // as negotiatedFile has it
}

// record is what is kept of one peer.
type record struct {
	In, Out  uint64              `json:",omitempty"` // totals
	State    string              // the last known one
	Since    time.Time           `json:",omitzero"`
	Blind    time.Time           `json:",omitzero"`  // since when the state isn't known; zero: it is
	IKE      []uint32            `json:",omitempty"` // IDs at the last look
	Children map[uint32]counters `json:",omitempty"` // by ID
	Key      bool                `json:",omitempty"` // another key is loaded than the one that the SAs were authenticated with
	Device   *counters           `json:",omitempty"` // WireGuard
	Public   string              `json:",omitempty"` // WireGuard: whose counters these are

	renewed bool // the SAs of the last look were authenticated anew since the one before
}

// counters are bytes as they were read last.
type counters struct {
	In, Out uint64
	Unseen  int `json:",omitempty"` // looks since it was listed
}

// Status is status.json: what this half of the agent knows, for people and programs
// inside the pod.
type Status struct {
	Written  time.Time        `json:"written"`
	Report   report.Report    `json:"report"`
	Charon   string           `json:"charon,omitempty"` // its version; empty: it doesn't answer, or the protocol is another
	Config   string           `json:"config,omitempty"` // Hash of the gateway file that is wanted
	InForce  time.Time        `json:"inForce,omitzero"` // since when all of it is loaded; zero: it isn't
	Problems []volume.Problem `json:"problems,omitempty"`
	// Lingering are networks of the file that an SA of another peer than theirs still
	// carries: that peer has not confirmed its end.
	Lingering []netip.Prefix     `json:"lingering,omitempty"`
	Memory    map[string]*record `json:"memory,omitempty"` // for the next start of the agent
}

// negotiatedFile holds the negotiated settings, in the notation of swanctl.conf.
const negotiatedFile = "negotiated.conf"

// recall reads what an earlier agent knew. What can't be read is taken for nothing.
func (l *StatusLoop) recall() {
	l.memory = memory{Peers: map[string]*record{}, negotiated: map[string]swanctl.Connection{}}
	if data, found, err := l.Volume.ReadStatus(); found && err == nil {
		var s Status
		if json.Unmarshal(data, &s) == nil && s.Memory != nil {
			l.memory.Peers = s.Memory
		}
	}
	data, err := os.ReadFile(filepath.Join(l.Volume.Dir, negotiatedFile))
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	c, parseErr := swanctl.Parse(string(data))
	if err = errors.Join(err, parseErr); err != nil {
		l.say(negotiatedFile, err.Error())
		return
	}
	l.memory.written = map[string]swanctl.Connection{}
	for _, conn := range c.Connections {
		l.memory.negotiated[conn.Name] = conn
		l.memory.written[conn.Name] = conn
	}
}

// remember writes the negotiated settings down, if they are others than before. It is
// done after the SAs with older settings were ended: an agent that is stopped in
// between ends them once more, and never leaves one.
func (l *StatusLoop) remember() {
	if reflect.DeepEqual(l.memory.negotiated, l.memory.written) {
		return
	}
	var c swanctl.Config
	for _, name := range sortedKeys(l.memory.negotiated) {
		c.Connections = append(c.Connections, l.memory.negotiated[name])
	}
	text, err := c.Text()
	if err == nil {
		err = volume.Replace(filepath.Join(l.Volume.Dir, negotiatedFile), []byte(text), 0o644)
	}
	l.say(negotiatedFile, errText(err))
	if err == nil {
		l.memory.written = maps.Clone(l.memory.negotiated)
	}
}

// of returns the record of a peer.
func (m *memory) of(peer string) *record {
	r := m.Peers[peer]
	if r == nil {
		r = &record{}
		m.Peers[peer] = r
	}
	return r
}

// only forgets the peers that are no longer expected.
func (m *memory) only(peers map[string]vpn.ExpectedPeer) {
	for name := range m.Peers {
		if _, expected := peers[name]; !expected {
			delete(m.Peers, name)
		}
	}
}

// forget drops the negotiated settings of all but those to keep: a peer that comes back
// one day begins anew.
func (m *memory) forget(keep func(connection string) bool) {
	maps.DeleteFunc(m.negotiated, func(name string, _ swanctl.Connection) bool { return !keep(name) })
}

// restarted forgets the SAs of a charon that is no more: the next one counts its IDs
// from one again.
func (m *memory) restarted() {
	for _, r := range m.Peers {
		r.IKE, r.Children, r.Key = nil, nil, false
		if r.State == vici.Established {
			r.State = "" // should it be up again at once, that is a new beginning
		}
	}
	clear(m.negotiated)
}

// continues tells whether these SAs may go on from those of the last look: one has
// stayed, or an IKE rekey has handed its children on. Otherwise they were all
// authenticated anew since.
func (r *record) continues(sas []vici.SA) bool {
	if len(r.IKE) == 0 {
		return true
	}
	for _, sa := range sas {
		for _, id := range r.IKE {
			if id == sa.ID {
				return true
			}
		}
		for _, c := range sa.Children {
			if _, there := r.Children[c.ID]; there {
				return true
			}
		}
	}
	return false
}

// count adds what the children carried since they were counted last. charon counts
// every child from zero.
func (r *record) count(children []vici.ChildSA) {
	if r.Children == nil {
		r.Children = map[uint32]counters{}
	}
	for _, c := range children {
		last := r.Children[c.ID]
		now := counters{In: max(c.BytesIn, last.In), Out: max(c.BytesOut, last.Out)}
		r.In += now.In - last.In
		r.Out += now.Out - last.Out
		r.Children[c.ID] = now
	}
}

// look notes which SAs there are. A child that isn't listed any more is remembered for
// two more looks, because its last counters may still arrive.
func (r *record) look(sas []vici.SA) {
	r.renewed = len(sas) > 0 && !r.continues(sas)
	r.IKE = r.IKE[:0]
	listed := map[uint32]bool{}
	for _, sa := range sas {
		r.IKE = append(r.IKE, sa.ID)
		r.count(sa.Children)
		for _, c := range sa.Children {
			listed[c.ID] = true
		}
	}
	for id, c := range r.Children {
		switch {
		case listed[id]:
		case c.Unseen >= 2:
			delete(r.Children, id)
		default:
			c.Unseen++
			r.Children[id] = c
		}
	}
}

// device adds what a WireGuard peer carried. Counters that fell have begun anew.
func (r *record) device(p volume.WireGuardPeer) {
	now := counters{In: p.Received, Out: p.Sent}
	last := r.Device
	if last == nil || r.Public != p.PublicKey || now.In < last.In || now.Out < last.Out {
		last = &counters{}
	}
	r.In += now.In - last.In
	r.Out += now.Out - last.Out
	r.Device, r.Public = &now, p.PublicKey
}

// state notes the peer's state, and since when it is in it: since the given time, or
// since now, unless it was in that state before.
func (r *record) state(state string, now, since time.Time, goesOn bool) {
	r.Blind = time.Time{}
	if r.State == state && goesOn && !r.Since.IsZero() {
		return
	}
	r.State, r.Since = state, since
	if since.IsZero() {
		r.Since = now
	}
}

// blind notes that nothing is known, and since when.
func (r *record) blind(now time.Time) {
	if r.Blind.IsZero() {
		r.Blind = now
	}
}
