package agent

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/vpnctl/vpnctl/agent/report"
	"github.com/vpnctl/vpnctl/agent/volume"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// vault keeps the values of the Secrets that the gateway names up to date. It asks for
// one at a time, for each of them every so often, for a new one at once, and for one
// that isn't there sooner at first. What it could not ask for keeps the value that it
// had: an API server that is away harms nobody.
type vault struct {
	source  report.Source
	every   time.Duration // between two looks at one Secret
	least   time.Duration // of a pause after a failure; it doubles
	most    time.Duration
	now     func() time.Time
	changed func() // called after a value has changed

	mu      sync.Mutex
	entries map[vpn.SecretRef]*entry
	failed  int       // calls in a row
	resume  time.Time // no call before
	errors  uint64
	old     volume.Secrets // as they were known before this process; nil: they were taken over
	fresh   chan struct{}  // something is due at once
}

// entry is one key of one Secret.
type entry struct {
	value    value
	due      time.Time
	failures int // in a row
	misses   int // in a row: it wasn't there
}

// value is what is known of one key of one Secret.
type value struct {
	known bool   // it was asked for, with success
	found bool   // it was there
	data  []byte // byte for byte
	err   error  // of the last attempt; the rest is as before it
}

// String keeps the data out of whatever prints a value.
func (v value) String() string { return fmt.Sprintf("%d bytes", len(v.data)) }

// GoString does so for %#v.
func (v value) GoString() string { return v.String() }

// waiting tells whether the value was simply not asked for yet.
func (v value) waiting() bool { return !v.known && v.err == nil }

// problem says in words what is wrong with the value of ref; empty: nothing.
func (v value) problem(ref vpn.SecretRef) string {
	switch {
	case ref.Name == "":
		return "no Secret is named for its key"
	case v.err != nil:
		return v.err.Error()
	case v.waiting():
		return "Secret " + ref.Name + " is not read yet"
	case !v.found:
		return "Secret " + ref.Name + " or its key " + ref.Key + " is missing"
	case len(v.data) == 0:
		return "Secret " + ref.Name + ": its key " + ref.Key + " is empty"
	}
	return ""
}

func newVault(source report.Source, every time.Duration, now func() time.Time, changed func()) *vault {
	return &vault{
		source: source, every: every, least: time.Second, most: 30 * time.Second, now: now, changed: changed,
		entries: map[vpn.SecretRef]*entry{}, fresh: make(chan struct{}, 1),
	}
}

// recall tells what was known before: it counts until the API says something else, so
// that a start while the API is away finds the keys there.
func (v *vault) recall(old volume.Secrets) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.old = old
}

// want replaces the list of what is looked after. A value that nobody wants any more
// is forgotten.
func (v *vault) want(refs []vpn.SecretRef) {
	v.mu.Lock()
	defer v.mu.Unlock()
	wanted := make(map[vpn.SecretRef]*entry, len(refs))
	for _, ref := range refs {
		if ref.Name == "" {
			continue
		}
		if wanted[ref] = v.entries[ref]; wanted[ref] == nil {
			wanted[ref] = &entry{}
			if data, there := v.old[volume.SecretName(ref)]; there {
				wanted[ref].value = value{known: true, found: true, data: data}
			}
			v.wake()
		}
	}
	v.entries, v.old = wanted, nil
}

func (v *vault) wake() {
	select {
	case v.fresh <- struct{}{}:
	default:
	}
}

// get returns what is known of one key.
func (v *vault) get(ref vpn.SecretRef) value {
	v.mu.Lock()
	defer v.mu.Unlock()
	if e := v.entries[ref]; e != nil {
		return e.value
	}
	return value{}
}

// mistakes is how many calls have failed so far.
func (v *vault) mistakes() uint64 {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.errors
}

// run asks until ctx ends.
func (v *vault) run(ctx context.Context) {
	for ctx.Err() == nil {
		ref, wait := v.next()
		if wait <= 0 {
			v.ask(ctx, ref)
			continue
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
		case <-v.fresh:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// next is what to ask for next, and in how long.
func (v *vault) next() (vpn.SecretRef, time.Duration) {
	v.mu.Lock()
	defer v.mu.Unlock()
	now := v.now()
	var pick vpn.SecretRef
	var soonest time.Time
	for ref, e := range v.entries {
		if pick.Name == "" || e.due.Before(soonest) || e.due.Equal(soonest) && (ref.Name < pick.Name || ref.Name == pick.Name && ref.Key < pick.Key) {
			pick, soonest = ref, e.due
		}
	}
	if pick.Name == "" {
		return pick, v.every
	}
	if v.resume.After(soonest) {
		soonest = v.resume
	}
	return pick, soonest.Sub(now)
}

// ask makes one call and notes what came of it.
func (v *vault) ask(ctx context.Context, ref vpn.SecretRef) {
	data, found, err := v.source.Secret(ctx, ref)
	if ctx.Err() != nil {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	e := v.entries[ref]
	if e == nil {
		return
	}
	now := v.now()
	if err != nil {
		e.failures++
		v.failed++
		v.errors++
		e.due = now.Add(backoff(e.failures, v.least, v.most))
		if v.failed >= 3 { // it isn't this Secret: leave the API server alone
			v.resume = now.Add(backoff(v.failed-2, v.least, v.most))
		}
		news := e.value.err == nil || e.value.err.Error() != err.Error()
		e.value.err = err
		if news {
			v.changed()
		}
		return
	}
	v.failed, v.resume, e.failures = 0, time.Time{}, 0
	e.due = now.Add(v.every - rand.N(v.every/5+1))
	if e.misses++; found {
		e.misses = 0
	} else if soon := now.Add(backoff(e.misses, v.least, v.most)); soon.Before(e.due) { // it is about to be made, as likely as not
		e.due = soon
	}
	e.value.take(data, found, v.changed)
}

// take replaces the content, and tells if it is another one.
func (v *value) take(data []byte, found bool, changed func()) {
	same := v.known && v.err == nil && v.found == found && bytes.Equal(v.data, data)
	v.known, v.found, v.err, v.data = true, found, nil, slices.Clone(data)
	if !same {
		changed()
	}
}
