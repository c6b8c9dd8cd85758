package report

import (
	"context"
	"time"

	"github.com/vpnctl/vpnctl/plan/vpn"
)

// Source gives the value of one key of a Secret of the gateway's namespace, byte
// for byte. It reports false where there is no such Secret or no such key; an error
// never holds the value.
type Source interface {
	Secret(ctx context.Context, ref vpn.SecretRef) (data []byte, found bool, err error)
}

// Sink takes what is known of a gateway and its peers. The last report counts.
type Sink interface {
	Report(ctx context.Context, r Report) error
}

// Report is what the agent knows of its gateway at one moment.
type Report struct {
	Gateway   vpn.Owner `json:"gateway"`
	Time      time.Time `json:"time"`
	PublicKey string    `json:"publicKey,omitempty"` // of WireGuard; empty: not known, the one published before stays
	Peers     []Peer    `json:"peers"`               // every expected peer, in the order in which status shows them
}

// The states that data planes don't have a name for themselves.
const (
	StateDown    = "DOWN"    // there is no SA, or no recent handshake
	StateUnknown = "UNKNOWN" // the data plane doesn't answer
)

// Peer is one peer as the data plane shows it.
type Peer struct {
	Name          string    `json:"name"`
	State         string    `json:"state"`             // as charon names it, or StateDown or StateUnknown
	Up            int       `json:"up"`                // of the expected child SAs or sessions
	Expected      int       `json:"expected"`          // 0: nothing is expected to be up
	Message       string    `json:"message,omitempty"` // why it is down, or what isn't in force
	Since         time.Time `json:"since,omitzero"`    // in this state
	LastHandshake time.Time `json:"lastHandshake,omitzero"`
	RekeyAt       time.Time `json:"rekeyAt,omitzero"` // the next one due
	BytesIn       uint64    `json:"bytesIn"`          // from the peer
	BytesOut      uint64    `json:"bytesOut"`         // to the peer
}

// whole tells whether all that is expected of the peer is up.
func (p Peer) whole() bool { return p.State != StateUnknown && p.Up >= p.Expected }
