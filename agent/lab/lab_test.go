//go:build e2e

package lab

import (
	"crypto/rand"
	"time"
)

// lab is everything, made once: the subtests go on from one another.
type lab struct {
	estate  *estate
	fabric  *fabric
	cluster *cluster
	keys    map[string][]byte // of each peer, at present
	secrets [][]byte          // every secret that ever was in the lab
}

// key gives a peer a new shared secret, on the gateway's side.
func (l *lab) key(peer string) []byte {
	l.setKey(peer, []byte(rand.Text()))
	return l.keys[peer]
}

func (l *lab) setKey(peer string, value []byte) {
	l.keys[peer] = value
	l.secrets = append(l.secrets, value)
	l.cluster.api.SetSecret("acme", peer+"-psk", map[string][]byte{"psk": value})
}

const shortly = 2 * time.Second // how long a packet may take that should not pass
