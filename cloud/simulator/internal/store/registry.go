package store

import (
	"encoding/json"
	"fmt"

	"github.com/vpnctl/vpnctl/cloud/simulator/internal/attr"
)

// keeper is a table whatever its objects are, for reading and writing the directory.
type keeper interface {
	kind() string
	encode(key string) (json.RawMessage, bool)
	load(raw json.RawMessage) error
	unset(key string)
	keys() []string
	clear()
}

func (t *Table[T]) kind() string   { return t.Kind }
func (t *Table[T]) keys() []string { return t.order }

func (t *Table[T]) clear() {
	for len(t.order) > 0 {
		t.unset(t.order[len(t.order)-1])
	}
}

func (t *Table[T]) encode(key string) (json.RawMessage, bool) {
	o, ok := t.Get(key)
	if !ok {
		return nil, false
	}
	return attr.Append(nil, o, attr.Hidden, nil), true
}

func (t *Table[T]) load(raw json.RawMessage) error {
	o := t.fresh()
	if err := json.Unmarshal(raw, o); err != nil {
		return fmt.Errorf("reading a %s: %w", t.Kind, err)
	}
	t.set(o.Key(), o)
	return nil
}

// table makes a table of the database for objects that fresh makes empty ones of.
func table[T Object](db *DB, kind string, fresh func() T) *Table[T] {
	t := &Table[T]{Kind: kind, db: db, rows: map[string]*row[T]{}, owned: map[string]int{}, fresh: fresh}
	db.tables = append(db.tables, t)
	db.byKind[kind] = t
	return t
}

// Record is one stored object, for looking at the state as a whole.
type Record struct {
	Kind, Key string
	JSON      json.RawMessage // all its attributes, hidden ones included
}

// Records returns everything that is stored, by kind in a fixed order and then by key.
func (db *DB) Records() []Record {
	var out []Record
	for _, t := range db.tables {
		for _, key := range t.keys() {
			raw, _ := t.encode(key)
			out = append(out, Record{Kind: t.kind(), Key: key, JSON: raw})
		}
	}
	return out
}

// Copy makes another state in memory that holds the same and goes on as this one would.
func (db *DB) Copy() (*DB, error) {
	other, err := Open("")
	if err != nil {
		return nil, err
	}
	err = db.Do(func() error {
		var all []operation
		for _, r := range db.Records() {
			all = append(all, operation{Kind: r.Kind, Key: r.Key, Value: r.JSON})
		}
		return other.apply(db.counter, all)
	})
	return other, err
}
