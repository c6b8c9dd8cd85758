package store

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"sync"
)

// DB is the whole state. Everything happens in transactions (see Do).
type DB struct {
	Projects       *Table[*Project]
	Users          *Table[*User]
	Credentials    *Table[*Credential]
	Networks       *Table[*Network]
	Subnets        *Table[*Subnet]
	Routers        *Table[*Router]
	SecurityGroups *Table[*SecurityGroup]
	Rules          *Table[*Rule]
	Ports          *Table[*Port]
	FloatingIPs    *Table[*FloatingIP]
	Policies       *Table[*Policy]
	Quotas         *Table[*Quota]
	Servers        *Table[*Server]
	Pendings       *Table[*Pending]

	indexes
	mu      sync.Mutex
	tables  []keeper
	byKind  map[string]keeper
	counter uint64 // grows with every ID that was given out
	undo    []func()
	touched []change
	dir     *directory // nil: memory only
}

// change names an object that a transaction has put or deleted.
type change struct{ kind, key string }

// Open makes an empty state in memory, or opens the one in dir.
func Open(dir string) (*DB, error) {
	db := &DB{byKind: map[string]keeper{}}
	db.makeTables()
	db.makeIndexes()
	if dir == "" {
		return db, nil
	}
	d, err := openDirectory(dir)
	if err != nil {
		return nil, err
	}
	db.dir = d
	return db, nil
}

func (db *DB) makeTables() {
	db.Projects = table(db, "project", func() *Project { return new(Project) })
	db.Users = table(db, "user", func() *User { return new(User) })
	db.Credentials = table(db, "application-credential", func() *Credential { return new(Credential) })
	db.Networks = table(db, "network", func() *Network { return new(Network) })
	db.Subnets = table(db, "subnet", func() *Subnet { return new(Subnet) })
	db.Routers = table(db, "router", func() *Router { return new(Router) })
	db.SecurityGroups = table(db, "security-group", func() *SecurityGroup { return new(SecurityGroup) })
	db.Rules = table(db, "security-group-rule", func() *Rule { return new(Rule) })
	db.Ports = table(db, "port", func() *Port { return new(Port) })
	db.FloatingIPs = table(db, "floating-ip", func() *FloatingIP { return new(FloatingIP) })
	db.Policies = table(db, "rbac-policy", func() *Policy { return new(Policy) })
	db.Quotas = table(db, "quota", func() *Quota { return new(Quota) })
	db.Servers = table(db, "server", func() *Server { return new(Server) })
	db.Pendings = table(db, "pending", func() *Pending { return new(Pending) })
}

// Do runs f as one transaction. Where f returns an error, and where it panics, nothing of it stays.
func (db *DB) Do(f func() error) (err error) {
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.dir != nil {
		if err := db.dir.lock(); err != nil {
			return err
		}
		defer db.dir.unlock()
		if err := db.catchUp(); err != nil {
			return err
		}
	}
	before := db.counter
	done := false
	defer func() {
		if !done {
			db.rollback(0)
			db.counter = before
		}
		db.undo, db.touched = nil, nil
	}()
	if err := f(); err != nil {
		return err
	}
	if db.dir != nil && len(db.touched) > 0 {
		if err := db.append(); err != nil {
			return err
		}
	}
	done = true
	return nil
}

// Try runs f within a transaction and takes back what it did when it returns an error; what the transaction
// did before stays.
func (db *DB) Try(f func() error) error {
	mark := len(db.undo)
	err := f()
	if err != nil {
		db.rollback(mark)
	}
	return err
}

func (db *DB) rollback(mark int) {
	for i := len(db.undo) - 1; i >= mark; i-- {
		db.undo[i]()
	}
	db.undo = db.undo[:mark]
}

func (db *DB) record(kind, key string, undo func()) {
	db.undo = append(db.undo, undo)
	db.touched = append(db.touched, change{kind, key})
}

// Next returns 16 bytes that no other call gives, the same in every run that makes the same calls: a walk
// through one state can be repeated byte for byte.
func (db *DB) Next() [16]byte {
	db.counter++
	var n [8]byte
	binary.BigEndian.PutUint64(n[:], db.counter)
	sum := sha256.Sum256(append([]byte("vpnctl simulator "), n[:]...))
	return [16]byte(sum[:16])
}

// NewID returns an ID in the form of a random UUID.
func (db *DB) NewID() string { return UUID(db.Next()) }

// NewMAC returns a MAC address in the range that Neutron uses.
func (db *DB) NewMAC() string {
	b := db.Next()
	return fmt.Sprintf("fa:16:3e:%02x:%02x:%02x", b[0], b[1], b[2])
}

// UUID writes 16 bytes as a version 4 UUID.
func UUID(b [16]byte) string {
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[0:4], b[4:6], b[6:8], b[8:10], b[10:16])
}

// StableID returns the ID that a seeded thing of that name has in every simulated cloud.
func StableID(name string) string {
	sum := sha256.Sum256([]byte("vpnctl simulator seed " + name))
	return UUID([16]byte(sum[:16]))
}

// operation is one change in the journal; without a value it is a deletion.
type operation struct {
	Kind  string          `json:"kind"`
	Key   string          `json:"key"`
	Value json.RawMessage `json:"value,omitempty"`
}
