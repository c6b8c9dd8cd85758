package loop_test

import (
	"context"
	"sync"
)

// kinds are CRDs as a cluster has them while somebody changes them.
type kinds struct {
	changing string // the kind whose CRD is changed; empty: all
	mu       sync.Mutex
	uid      string // empty: it is gone
	err      error
	asked    int
}

// become changes the CRDs: their UID, or why nobody can see it.
func (d *kinds) become(uid string, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.uid, d.err = uid, err
}

// looks is how often a CRD that stands was looked at.
func (d *kinds) looks() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.asked
}

func (d *kinds) of(_ context.Context, kind string) (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	uid := d.uid
	if d.changing != "" && d.changing != kind {
		uid = "another"
	}
	if d.err != nil || uid == "" {
		return "", d.err
	}
	d.asked++
	return uid + " of " + kind, nil
}
