package live

import (
	"crypto/sha256"

	"github.com/vpnctl/vpnctl/plan/resource"
)

// Memory is which live objects were found to be as desired when they were looked at last.
// As long as neither side of one changes there is nothing to compare, or to decode: of an
// estate that stands, this is nearly all. The zero value remembers nothing. It is for one
// goroutine.
type Memory struct{ equal map[resource.ID]pair }

// pair is what a comparison was made of: a version of a live object, and a desired one.
type pair struct {
	uid, version string
	want         [sha256.Size]byte
}

func pairOf(want *resource.Object, have *resource.Live) pair {
	return pair{uid: have.UID, version: have.Version, want: sha256.Sum256([]byte(want.APIVersion + "\n" + want.Content))}
}

// knows tells whether the same comparison was made before. What doesn't say its version
// may be anything by now.
func (m *Memory) knows(id resource.ID, now pair) bool {
	return now.version != "" && m.equal[id] == now
}
