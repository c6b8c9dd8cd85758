package agent

import (
	"encoding/json"
	"maps"
	"net/netip"
	"time"

	"github.com/vpnctl/vpnctl/plan/vpn"
)

// selectors are the peers' networks as charon has them, which is the status half's
// work: it may be behind both files, and so may the other end of a tunnel. A network
// that goes from one peer to another is granted to nobody until that half has taken the
// file, and no SA of the peer before carries it any more.
type selectors struct {
	holders   map[netip.Prefix]string // as charon has them; nil: there was no file yet
	contested map[netip.Prefix]string // networks of the file that somebody else may hold, by whom
	file      string                  // Hash of the swanctl.conf that is wanted
	late      bool                    // holders are those of a file before, or not looked up yet
	taken     time.Time               // when the status half was first seen at work on it; zero: not yet
}

// patience is how long charon may take for what concerns nobody else: a file is in
// force in whole only once the last peer's Secret is there.
const patience = 10 * time.Second

// want notes what charon should have. Nothing waits after the first file, because charon
// begins empty (should only this half have been started anew, what still lingers is to
// be seen at the first look), nor where no network has moved.
func (s *selectors) want(e vpn.Expectation, file string) {
	wanted := holdersOf(e)
	s.file, s.taken = file, time.Time{}
	if s.late = s.late || !maps.Equal(s.holders, wanted); s.holders == nil {
		s.holders = wanted
	}
	if s.late {
		s.contested = contest(s.contested, s.holders, wanted)
	}
}

// contest adds the networks that overlap one that another peer held.
func contest(before, held, wanted map[netip.Prefix]string) map[netip.Prefix]string {
	all := map[netip.Prefix]string{}
	for network, peer := range wanted {
		if other, there := before[network]; there && other != peer {
			all[network] = other
		}
		if held[network] == peer {
			continue
		}
		for old, other := range held {
			if other != peer && old.Overlaps(network) {
				all[network] = other
			}
		}
	}
	return all
}

// follow looks into status.json for whether charon has it, and tells if that is news.
func (s *selectors) follow(e vpn.Expectation, status []byte, now time.Time) bool {
	var at Status
	if !s.late || json.Unmarshal(status, &at) != nil || at.Config != s.file || at.Charon == "" {
		return false
	}
	if s.taken.IsZero() {
		s.taken = now
	}
	if at.InForce.IsZero() && now.Before(s.taken.Add(patience)) && len(s.contested) > 0 {
		return false
	}
	left := map[netip.Prefix]string{}
	for _, network := range at.Lingering {
		left[network] = unknownHolder
	}
	news := !maps.Equal(s.contested, left)
	if s.contested = left; len(left) == 0 {
		s.holders, s.late = holdersOf(e), false
	}
	return news
}

func holdersOf(e vpn.Expectation) map[netip.Prefix]string {
	all := map[netip.Prefix]string{}
	for _, p := range e.Peers {
		for _, network := range p.Sources {
			all[network] = p.Name
		}
	}
	return all
}

// lookForCharon follows what the status half says.
func (l *DataplaneLoop) lookForCharon() {
	if !l.selectors.late || l.files.wireguard() {
		return
	}
	data, found, err := l.Volume.ReadStatus()
	if err == nil && found && l.selectors.follow(l.files.expect, data, l.Now()) {
		l.at.owners++
	}
}

// holder is the peer whose packets bear a source, as far as that is known.
func (l *DataplaneLoop) holder(source netip.Prefix) string {
	if l.files.wireguard() {
		return l.tunnel.holders[source]
	}
	return l.selectors.contested[source]
}
