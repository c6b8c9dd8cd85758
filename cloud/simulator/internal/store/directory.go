package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// compactAt is the size of the journal, in bytes, from which it is folded into a new picture, once it also is
// larger than the picture.
const compactAt = 1 << 20

// directory is where a state is kept.
type directory struct {
	path    string
	lockf   *os.File // held open for the lock on it
	picture *os.File // the state.json that the state in memory comes from; nil before there is one
	journal *os.File // the journal that belongs to that picture
	read    int64    // how much of the journal is in memory
	size    int64    // of the picture
	closed  bool
}

// picture is the content of state.json.
type picture struct {
	Format  string      `json:"format"`
	Journal string      `json:"journal"` // name of the file with what came after
	Counter uint64      `json:"counter"`
	Objects []operation `json:"objects"`
}

const format = "vpnctl-simulator/1"

// entry is one line of the journal: one transaction.
type entry struct {
	Counter    uint64      `json:"counter"`
	Operations []operation `json:"operations"`
}

func openDirectory(path string) (*directory, error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, fmt.Errorf("making the state directory: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(path, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the state directory: %w", err)
	}
	return &directory{path: path, lockf: f}, nil
}

// catchUp brings the state in memory to the one in the directory.
func (db *DB) catchUp() error {
	d := db.dir
	now, err := os.Stat(filepath.Join(d.path, "state.json"))
	if errors.Is(err, fs.ErrNotExist) && d.picture == nil {
		return db.replacePicture()
	}
	if err != nil {
		return fmt.Errorf("looking at the state: %w", err)
	}
	if d.picture == nil || !d.current(now) {
		if err := db.readPicture(); err != nil {
			return fmt.Errorf("reading %s: %w", filepath.Join(d.path, "state.json"), err)
		}
	}
	if err := db.readJournal(); err != nil {
		return fmt.Errorf("reading %s: %w", d.journal.Name(), err)
	}
	if d.read > compactAt && d.read > d.size {
		return db.replacePicture()
	}
	return nil
}

// current tells whether the picture in memory still is the one in the directory. The old file is held open, so
// that a new one can never have its identity.
func (d *directory) current(now os.FileInfo) bool {
	mine, err := d.picture.Stat()
	return err == nil && os.SameFile(mine, now)
}

func (db *DB) readPicture() error {
	f, err := os.Open(filepath.Join(db.dir.path, "state.json"))
	if err != nil {
		return err
	}
	raw, err := io.ReadAll(f)
	if err != nil {
		return errors.Join(err, f.Close())
	}
	var p picture
	if err := json.Unmarshal(raw, &p); err != nil {
		return errors.Join(err, f.Close())
	}
	if p.Format != format {
		return errors.Join(fmt.Errorf("format %q is not %q", p.Format, format), f.Close())
	}
	for _, t := range db.tables {
		t.clear()
	}
	if err := db.apply(p.Counter, p.Objects); err != nil {
		return errors.Join(err, f.Close())
	}
	return db.dir.follow(f, p.Journal, int64(len(raw)))
}

// follow makes f and the journal of that name the ones in use.
func (d *directory) follow(f *os.File, journal string, size int64) error {
	j, err := os.OpenFile(filepath.Join(d.path, filepath.Base(journal)), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return errors.Join(err, f.Close())
	}
	d.close()
	d.picture, d.journal, d.read, d.size = f, j, 0, size
	return nil
}

func (d *directory) close() {
	if d.picture != nil {
		d.picture.Close()
		d.journal.Close()
	}
}

// readJournal applies what was appended since the last look. A last line that isn't whole is from a process
// that was killed before it had answered: it is cut off.
func (db *DB) readJournal() error {
	d := db.dir
	info, err := d.journal.Stat()
	if err != nil || info.Size() == d.read {
		return err
	}
	raw := make([]byte, info.Size()-d.read)
	if _, err := d.journal.ReadAt(raw, d.read); err != nil {
		return err
	}
	for len(raw) > 0 {
		n := bytes.IndexByte(raw, '\n')
		if n < 0 {
			return d.journal.Truncate(d.read)
		}
		var e entry
		if err := json.Unmarshal(raw[:n], &e); err != nil {
			return fmt.Errorf("at byte %d: %w", d.read, err)
		}
		if err := db.apply(e.Counter, e.Operations); err != nil {
			return err
		}
		d.read += int64(n + 1)
		raw = raw[n+1:]
	}
	return nil
}

func (db *DB) apply(counter uint64, ops []operation) error {
	db.counter = counter
	for _, op := range ops {
		t, ok := db.byKind[op.Kind]
		switch {
		case !ok:
			return fmt.Errorf("kind %q is not known", op.Kind)
		case op.Value == nil:
			t.unset(op.Key)
		default:
			if err := t.load(op.Value); err != nil {
				return err
			}
		}
	}
	return nil
}
