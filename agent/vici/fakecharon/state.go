package fakecharon

import (
	"maps"
	"slices"
	"strconv"
	"time"
)

// SA is an IKE SA that the daemon lists. Texts are in charon's words: ESTABLISHED,
// CONNECTING, INSTALLED.
type SA struct {
	Connection string
	ID         int // a new one is given if 0
	State      string
	Since      time.Time // ESTABLISHED: when it came up
	RekeyIn    int       // seconds
	Tasks      []string  // active
	Children   []Child
}

// Child is a child SA.
type Child struct {
	Name              string
	ID                int // a new one is given if 0
	State             string
	BytesIn, BytesOut int
	RekeyIn           int      // seconds
	Remote            []string // traffic selectors; nil: those of the connection as it is loaded
}

// Key is a pre-shared key as it arrived.
type Key struct {
	Owners []string
	Data   []byte
}

// Peer is how a connection's peer takes an initiate. One that isn't told anything
// answers at once and everything comes up.
type Peer struct {
	Silent bool   // never answers: the SA stays CONNECTING, and a child that is ended DELETING
	Notify string // refuses, with this notify; TS_UNACCEPTABLE leaves an SA without children
}

// state is what a restart loses.
type state struct {
	connections map[string]Message
	names       []string // of the connections, in the order of loading
	keys        map[string]Key
	sas         []SA
	last        int // ID given
}

func newState() state {
	return state{connections: map[string]Message{}, keys: map[string]Key{}}
}

// Behave says how the peer of a connection takes an initiate from now on.
func (c *Charon) Behave(connection string, p Peer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.peers[connection] = p
}

// Connections are the loaded connections as they arrived, by name.
func (c *Charon) Connections() map[string]Message {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.connections)
}

// Keys are the loaded keys by id.
func (c *Charon) Keys() map[string]Key {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.keys)
}

// SAs are the SAs in the order of listing.
func (c *Charon) SAs() []SA {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.copySAs()
}

// Change replaces the SAs by what f makes of them. No event is sent.
func (c *Charon) Change(f func([]SA) []SA) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sas = f(c.copySAs())
	c.number()
}

// Lose ends the SAs of a connection as if the peer had died, events included.
func (c *Charon) Lose(connection string) {
	c.mu.Lock()
	gone := c.end(func(s SA) bool { return s.Connection == connection })
	c.mu.Unlock()
	for _, e := range gone {
		c.Emit(e.name, e.body)
	}
}

func (c *Charon) copySAs() []SA {
	all := slices.Clone(c.sas)
	for i := range all {
		all[i].Children = slices.Clone(all[i].Children)
		all[i].Tasks = slices.Clone(all[i].Tasks)
	}
	return all
}

// number gives IDs to what has none.
func (s *state) number() {
	for i := range s.sas {
		if s.sas[i].ID == 0 {
			s.last++
			s.sas[i].ID = s.last
		}
		for j := range s.sas[i].Children {
			if s.sas[i].Children[j].ID == 0 {
				s.last++
				s.sas[i].Children[j].ID = s.last
			}
		}
	}
}

// end takes SAs away and returns the events that tell of it.
func (s *state) end(which func(SA) bool) []packet {
	var told []packet
	var kept []SA
	for _, sa := range s.sas {
		if !which(sa) {
			kept = append(kept, sa)
			continue
		}
		if sa.State == "ESTABLISHED" {
			for _, child := range sa.Children {
				told = append(told, updown("child-updown", false, s.message(sa, []Child{child})))
			}
			told = append(told, updown("ike-updown", false, s.message(sa, nil)))
		}
	}
	s.sas = kept
	return told
}

// message is an SA in the shape of list-sa: what isn't known while connecting is
// left out, and so are counters of packets that nobody counts.
func (s *state) message(sa SA, children []Child) Message {
	conf := s.connections[sa.Connection]
	list := Message{}
	for _, child := range children {
		list[child.Name+"-"+strconv.Itoa(child.ID)] = childMessage(conf.section("children").section(child.Name), child)
	}
	m := Message{
		"uniqueid": strconv.Itoa(sa.ID), "version": "2", "state": sa.State, "initiator": "yes",
		"local-host": "192.0.2.1", "local-port": "4500", "remote-host": first(conf.list("remote_addrs")), "remote-port": "4500",
		"local-id": "%any", "remote-id": "%any", "child-sas": list,
	}
	if len(sa.Tasks) > 0 {
		m["tasks-active"] = sa.Tasks
	}
	if sa.State != "CONNECTING" {
		m["local-id"], m["remote-id"] = conf.section("local").text("id"), conf.section("remote").text("id")
		m["established"] = strconv.Itoa(int(time.Since(sa.Since).Seconds()))
		m["rekey-time"] = strconv.Itoa(sa.RekeyIn)
		m["encr-alg"], m["encr-keysize"] = "AES_CBC", "256"
		m["integ-alg"], m["prf-alg"], m["dh-group"] = "HMAC_SHA2_256_128", "PRF_HMAC_SHA2_256", "ECP_256"
	}
	return Message{sa.Connection: m}
}

func childMessage(conf Message, child Child) Message {
	remote := child.Remote
	if remote == nil {
		remote = conf.list("remote_ts")
	}
	return Message{
		"name": child.Name, "uniqueid": strconv.Itoa(child.ID), "reqid": "1", "state": child.State,
		"mode": "TUNNEL", "protocol": "ESP", "encap": "yes", "encr-alg": "AES_GCM_16", "encr-keysize": "256",
		"bytes-in": strconv.Itoa(child.BytesIn), "packets-in": strconv.Itoa(child.BytesIn / 100),
		"bytes-out": strconv.Itoa(child.BytesOut), "packets-out": strconv.Itoa(child.BytesOut / 100),
		"rekey-time": strconv.Itoa(child.RekeyIn), "install-time": "1",
		"local-ts": append([]string{}, conf.list("local_ts")...), "remote-ts": append([]string{}, remote...),
	}
}

func first(list []string) string {
	if len(list) == 0 {
		return "%any"
	}
	return list[0]
}

// updown is the event of an SA that came or went. charon writes up before the
// section, so that of a connection named up a reader by key sees the section alone.
func updown(name string, up bool, body Message) packet {
	if _, taken := body["up"]; up && !taken {
		body["up"] = "yes"
	}
	return packet{kind: event, name: name, body: body}
}
