package store

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var errNo = errors.New("no")

func open(t *testing.T, dir string) *DB {
	t.Helper()
	db, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func do(t *testing.T, db *DB, f func() error) {
	t.Helper()
	if err := db.Do(f); err != nil {
		t.Fatal(err)
	}
}

// port is one of a few ports in some version, so that random changes meet.
func port(r *rand.Rand) *Port {
	n := r.IntN(8)
	p := &Port{Owned: Owned{ID: fmt.Sprint(n), ProjectID: fmt.Sprint(r.IntN(3))}, DeviceID: fmt.Sprint(r.IntN(3)), Name: fmt.Sprint(r.IntN(100))}
	p.FixedIPs = []FixedIP{{SubnetID: "s", IPAddress: fmt.Sprintf("10.0.0.%d", n*10+r.IntN(3))}}
	return p
}

// state writes everything that can be read from the database, indexes included.
func state(db *DB) string {
	var b strings.Builder
	for _, r := range db.Records() {
		fmt.Fprintln(&b, r.Kind, r.Key, string(r.JSON))
	}
	for i := range 100 {
		if id, ok := db.Holder("s", netip.AddrFrom4([4]byte{10, 0, 0, byte(i)})); ok {
			fmt.Fprintln(&b, "address", i, id)
		}
	}
	for i := range 3 {
		fmt.Fprintln(&b, "device", i, len(db.PortsOf(fmt.Sprint(i))), "project", db.Ports.Owned(fmt.Sprint(i)))
	}
	return b.String()
}

func alter(db *DB, r *rand.Rand) {
	if p := port(r); r.IntN(3) == 0 {
		db.Ports.Delete(p.ID)
	} else {
		db.Ports.Put(p)
	}
}

// Whatever a transaction does, when it fails everything is as before: objects, order, indexes.
func TestAFailedTransactionLeavesNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	db := open(t, "")
	for range 300 {
		before := state(db)
		err := db.Do(func() error {
			for range r.IntN(6) {
				alter(db, r)
			}
			return errNo
		})
		if !errors.Is(err, errNo) {
			t.Fatal(err)
		}
		if diff := cmp.Diff(before, state(db)); diff != "" {
			t.Fatalf("after a failure (-want +got):\n%s", diff)
		}
		do(t, db, func() error { alter(db, r); return nil })
	}
}

func TestTryTakesBackItsOwnPartOnly(t *testing.T) {
	db := open(t, "")
	do(t, db, func() error {
		db.Ports.Put(&Port{Owned: Owned{ID: "kept"}})
		return nil
	})
	do(t, db, func() error {
		db.Ports.Put(&Port{Owned: Owned{ID: "first"}})
		if err := db.Try(func() error {
			db.Ports.Delete("kept")
			db.Ports.Put(&Port{Owned: Owned{ID: "second"}})
			return errNo
		}); !errors.Is(err, errNo) {
			t.Error(err)
		}
		return nil
	})
	if diff := cmp.Diff([]string{"first", "kept"}, db.Ports.order); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Two databases on one directory agree after each change, across new pictures and a restart.
func TestDirectoryFollowsEveryChange(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	dir := t.TempDir()
	dbs := []*DB{open(t, dir), open(t, dir)}
	for i := range 120 {
		writer := dbs[r.IntN(2)]
		do(t, writer, func() error {
			for range 1 + r.IntN(3) {
				alter(writer, r)
			}
			return nil
		})
		if i%30 == 29 {
			do(t, writer, writer.replacePicture)
		}
		var seen []string
		for _, db := range append(dbs, open(t, dir)) {
			do(t, db, func() error { seen = append(seen, state(db)); return nil })
		}
		if seen[0] != seen[1] || seen[1] != seen[2] {
			t.Fatalf("after change %d:\n%s", i, cmp.Diff(seen[0], seen[1])+cmp.Diff(seen[1], seen[2]))
		}
	}
}

// The journal is folded into the picture before it grows without end, and old journals go.
func TestLongJournalIsFolded(t *testing.T) {
	dir := t.TempDir()
	db := open(t, dir)
	long := strings.Repeat("x", 100_000)
	for i := range 40 {
		do(t, db, func() error { db.Ports.Put(&Port{Owned: Owned{ID: "p"}, Name: fmt.Sprint(i, long)}); return nil })
	}
	journals, err := filepath.Glob(filepath.Join(dir, "journal-*"))
	if err != nil || len(journals) != 1 {
		t.Fatalf("journals %v, %v", journals, err)
	}
	info, err := os.Stat(journals[0])
	if err != nil || info.Size() > 2*compactAt {
		t.Errorf("the journal has %d bytes, %v", info.Size(), err)
	}
	other := open(t, dir)
	do(t, other, func() error {
		if p, ok := other.Ports.Get("p"); !ok || p.Name != "39"+long {
			t.Error("the last change is lost")
		}
		return nil
	})
}

func TestLowestFindsFreedAddresses(t *testing.T) {
	db := open(t, "")
	start, end := netip.MustParseAddr("10.0.0.2"), netip.MustParseAddr("10.0.0.5")
	lowest := func() string {
		a, ok := db.Lowest("s", start, end)
		if !ok {
			return "none"
		}
		db.FullBelow("s", a)
		return a.String()
	}
	put := func(id, address string) {
		do(t, db, func() error {
			db.Ports.Put(&Port{Owned: Owned{ID: id}, FixedIPs: []FixedIP{{"s", address}}})
			return nil
		})
	}
	var got []string
	for i := range 5 {
		a := lowest()
		got = append(got, a)
		if a != "none" {
			put(fmt.Sprint(i), a)
		}
	}
	do(t, db, func() error { db.Ports.Delete("1"); return nil })
	got = append(got, lowest())
	put("0", "10.0.0.3") // moves
	got = append(got, lowest())
	want := []string{"10.0.0.2", "10.0.0.3", "10.0.0.4", "10.0.0.5", "none", "10.0.0.3", "10.0.0.2"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
