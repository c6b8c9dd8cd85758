package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// append writes the transaction that ends to the journal.
func (db *DB) append() error {
	d := db.dir
	line, err := json.Marshal(entry{Counter: db.counter, Operations: db.operations()})
	if err != nil {
		return err
	}
	n, err := d.journal.WriteAt(append(line, '\n'), d.read)
	if err != nil {
		return fmt.Errorf("writing %s: %w", d.journal.Name(), err)
	}
	d.read += int64(n)
	return nil
}

// operations are the changes of the transaction, each object once and as it is now.
func (db *DB) operations() []operation {
	var ops []operation
	seen := map[change]bool{}
	for _, c := range db.touched {
		if seen[c] {
			continue
		}
		seen[c] = true
		value, _ := db.byKind[c.kind].encode(c.key)
		ops = append(ops, operation{Kind: c.kind, Key: c.key, Value: value})
	}
	return ops
}

// replacePicture writes the whole state anew, with an empty journal of its own.
func (db *DB) replacePicture() error {
	d := db.dir
	p := picture{Format: format, Journal: fmt.Sprintf("journal-%d", db.counter), Counter: db.counter}
	if d.journal != nil && filepath.Base(d.journal.Name()) == p.Journal {
		p.Journal += "+"
	}
	for _, r := range db.Records() {
		p.Objects = append(p.Objects, operation{Kind: r.Kind, Key: r.Key, Value: r.JSON})
	}
	raw, err := json.Marshal(p)
	if err != nil {
		return err
	}
	if err := d.swap(raw, p.Journal); err != nil {
		return fmt.Errorf("writing the state: %w", err)
	}
	return nil
}

// swap puts the new picture in the old one's place. Until the rename the old pair of files stands whole, from
// it on the new one does.
func (d *directory) swap(raw []byte, journal string) error {
	if err := os.WriteFile(filepath.Join(d.path, journal), nil, 0o600); err != nil {
		return err
	}
	tmp := filepath.Join(d.path, "state.json.new")
	if err := os.WriteFile(tmp, raw, 0o600); err != nil {
		return err
	}
	name := filepath.Join(d.path, "state.json")
	if err := os.Rename(tmp, name); err != nil {
		return err
	}
	old := ""
	if d.journal != nil {
		old = d.journal.Name()
	}
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	if err := d.follow(f, journal, int64(len(raw))); err != nil {
		return err
	}
	if old != "" {
		return os.Remove(old)
	}
	return nil
}

// Close folds the journal into state.json and lets go of the directory; the state cannot be used any more. In
// memory, and the second time, it does nothing.
func (db *DB) Close() error {
	if db.dir == nil || db.dir.closed {
		return nil
	}
	err := db.Do(func() error {
		if db.dir.read == 0 {
			return nil
		}
		return db.replacePicture()
	})
	db.dir.closed = true
	db.dir.close()
	return errors.Join(err, db.dir.lockf.Close())
}
