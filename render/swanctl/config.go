package swanctl

import (
	"net/netip"
	"time"
)

// Config is the connections of one gateway, sorted by name.
type Config struct {
	Connections []Connection
}

// Connection is one peer. What is the same for every connection (IKEv2, pre-shared
// keys, any local address, see write.go) has no field.
type Connection struct {
	Name       string // the peer's name
	LocalID    string // the gateway's floating IP, or resource.Unknown
	Address    netip.Addr
	RemoteID   string
	Proposals  []string      // in the order of preference
	Lifetime   time.Duration // rekey interval of the IKE SA
	DPDDelay   time.Duration
	DPDTimeout time.Duration // without effect in IKEv2
	Children   []Child       // in the order of their subnets
}

// Child is one pair of traffic selectors under one connection.
type Child struct {
	Name      string
	Local     netip.Prefix // the gateway's service CIDR
	Remote    []netip.Prefix
	Proposals []string
	Lifetime  time.Duration // rekey interval of the child SA
}

// Connection finds a connection by name.
func (c Config) Connection(name string) (Connection, bool) {
	for _, conn := range c.Connections {
		if conn.Name == name {
			return conn, true
		}
	}
	return Connection{}, false
}
