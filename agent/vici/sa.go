package vici

import (
	"context"
	"net/netip"
	"slices"
	"strings"
	"time"
)

// States of an SA that matter to us; charon has more, and they are passed on as they
// are.
const (
	Connecting  = "CONNECTING"
	Established = "ESTABLISHED" // an IKE SA that is up
	Installed   = "INSTALLED"   // a child SA that carries packets; any other state doesn't
)

// SA is an IKE SA. A connection may have several at a time: both ends initiated, or
// one is being replaced.
type SA struct {
	Connection    string
	ID            uint32 // charon's number for it; another one after each IKE rekey
	State         string
	Initiator     bool
	Local, Remote netip.AddrPort // zero while unknown
	Established   time.Duration  // for how long; starts again at each IKE rekey
	RekeyIn       time.Duration  // negative once it is overdue; zero: not known
	LocalID       string
	RemoteID      string // "%any" until the peer has said who it is
	Proposal      string // as swanctl prints it: AES_CBC-256/HMAC_SHA2_256_128/...
	Children      []ChildSA
	Tasks         bool // something is being negotiated, or waits to be
}

// ChildSA is a pair of ESP SAs under an IKE SA. After a rekey the old one stays
// listed for some seconds, in another state than Installed. The counters start at
// zero at each rekey.
type ChildSA struct {
	Name                  string // of the child in the configuration
	ID                    uint32 // charon's number for it; another one after each rekey
	State                 string
	BytesIn, BytesOut     uint64
	PacketsIn, PacketsOut uint64
	RekeyIn               time.Duration // negative on one that was replaced; zero: not known
	Installed             time.Duration // for how long
	Proposal              string
	LocalTS, RemoteTS     []netip.Prefix
}

// SAs lists every IKE SA with its children, in charon's order. It waits for an SA
// that charon is busy with rather than leave it out.
func (s *Session) SAs(ctx context.Context) ([]SA, error) {
	events, err := s.stream(ctx, "list-sas", "list-sa", nil)
	if err != nil {
		return nil, err
	}
	all := make([]SA, 0, len(events))
	for _, e := range events {
		for _, sub := range (fields{e}).sections() {
			all = append(all, readSA(sub))
		}
	}
	return all, nil
}

func readSA(f section) SA {
	return SA{
		Connection:  f.name,
		ID:          uint32(f.number("uniqueid")),
		State:       f.text("state"),
		Initiator:   f.yes("initiator"),
		Local:       f.addrPort("local-host", "local-port"),
		Remote:      f.addrPort("remote-host", "remote-port"),
		Established: f.seconds("established"),
		RekeyIn:     f.seconds("rekey-time"),
		LocalID:     f.text("local-id"),
		RemoteID:    f.text("remote-id"),
		Proposal:    f.proposal(),
		Children:    readChildren(f.fields),
		Tasks:       len(f.list("tasks-active"))+len(f.list("tasks-queued"))+len(f.list("tasks-passive")) > 0,
	}
}

// readChildren reads the children of an IKE SA. Their sections are named after the
// configured name and the number, in some events after the name alone: what counts is
// the name inside.
func readChildren(sa fields) []ChildSA {
	var all []ChildSA
	for _, f := range sa.section("child-sas").sections() {
		all = append(all, ChildSA{
			Name:       f.text("name"),
			ID:         uint32(f.number("uniqueid")),
			State:      f.text("state"),
			BytesIn:    f.number("bytes-in"),
			BytesOut:   f.number("bytes-out"),
			PacketsIn:  f.number("packets-in"),
			PacketsOut: f.number("packets-out"),
			RekeyIn:    f.seconds("rekey-time"),
			Installed:  f.seconds("install-time"),
			Proposal:   f.proposal(),
			LocalTS:    f.prefixes("local-ts"),
			RemoteTS:   f.prefixes("remote-ts"),
		})
	}
	return all
}

// proposal joins what was agreed on: encryption and its key size, integrity (absent
// with an AEAD), the PRF (of an IKE SA), the group (absent where no exchange of keys
// of its own took place).
func (f fields) proposal() string {
	encryption := f.text("encr-alg")
	if size := f.text("encr-keysize"); size != "" {
		encryption += "-" + size
	}
	parts := []string{encryption, f.text("integ-alg"), f.text("prf-alg"), f.text("dh-group")}
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), "/")
}
