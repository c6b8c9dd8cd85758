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
	secrets [][]byte // every secret that ever was in the lab
}

// secret makes a new shared secret and puts it into the cluster.
func (l *lab) secret(name string) []byte {
	value := []byte(rand.Text())
	l.setSecret(name, "psk", value)
	return value
}

func (l *lab) setSecret(name, key string, value []byte) {
	l.secrets = append(l.secrets, value)
	l.cluster.api.SetSecret("acme", name, map[string][]byte{key: value})
}

const shortly = 2 * time.Second // how long a packet may take that should not pass
