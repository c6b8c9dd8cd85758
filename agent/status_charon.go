package agent

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/vpnctl/vpnctl/agent/vici"
	"github.com/vpnctl/vpnctl/render/swanctl"
)

// charon is one session with charon, and what is known of that charon.
type charon struct {
	session *vici.Session // nil: there is none
	version string
	names   map[string]bool               // connections that it has
	ids     map[string]bool               // keys that it has
	loaded  map[string]swanctl.Connection // connections as this agent loaded them
	before  map[string]swanctl.Connection // those that this tick has replaced, as they were until then
	keys    map[string]given              // keys as this agent loaded them, by id
	refused map[string]refusal            // by what: see refuse

	once  bool          // there was a session before
	pause time.Duration // until the next attempt
}

// given is a key that charon was given. It is never printed.
type given struct {
	owner string
	data  []byte
}

// String keeps the key out of whatever prints it.
func (g given) String() string { return fmt.Sprintf("key for %s, %d bytes", g.owner, len(g.data)) }

// GoString does so for %#v.
func (g given) GoString() string { return g.String() }

func (g given) equal(h given) bool { return g.owner == h.owner && bytes.Equal(g.data, h.data) }

// refusal is something that charon would not take. It is tried again after a while,
// and at once when it has changed.
type refusal struct {
	what  any
	why   string
	until time.Time
}

// refusalPause is how long charon isn't asked again for what it has refused.
const refusalPause = 30 * time.Second

func (c *charon) hangUp() {
	if c.session != nil {
		c.session.Close()
	}
	c.session = nil
}

// lost is the end of a session. The first attempt to get a new one comes soon, later
// ones with each tick.
func (l *StatusLoop) lost(err error) time.Duration {
	l.charon.hangUp()
	l.say("charon", err.Error())
	l.charon.pause = min(max(2*l.charon.pause, l.Gap), l.Tick)
	return l.charon.pause
}

// connect makes sure that there is a session, and finds out what that charon has. One
// that has no connection was started anew, or never had one: then nothing is left of
// what was known of SAs.
func (l *StatusLoop) connect(ctx context.Context) error {
	if l.charon.session != nil {
		return nil
	}
	session, err := vici.Dial(ctx, l.Socket)
	if err != nil {
		return err
	}
	session.Limit = l.Call
	fresh := charon{
		session: session, names: map[string]bool{}, ids: map[string]bool{}, once: true,
		loaded: map[string]swanctl.Connection{}, before: map[string]swanctl.Connection{},
		keys: map[string]given{}, refused: map[string]refusal{}, pause: l.charon.pause,
	}
	names, ids, err := fresh.ask(ctx)
	if err != nil {
		session.Close()
		return err
	}
	for _, n := range names {
		fresh.names[n] = true
	}
	for _, id := range ids {
		fresh.ids[id] = true
	}
	if len(names) == 0 {
		l.memory.restarted()
		l.Watchdog.Forget()
	}
	if l.charon.once {
		l.counts.reconnects++
	}
	l.charon = fresh
	l.say("charon", "")
	l.Log.Info("charon answers", "version", fresh.version, "connections", len(names), "keys", len(ids))
	return nil
}

// ask is the first thing said on a session.
func (c *charon) ask(ctx context.Context) (names, ids []string, err error) {
	if c.version, err = c.session.Version(ctx); err != nil {
		return nil, nil, err
	}
	if names, err = c.session.Connections(ctx); err != nil {
		return nil, nil, err
	}
	ids, err = c.session.Keys(ctx)
	return names, ids, err
}

// fatal tells whether an error ends the session, rather than one command.
func fatal(ctx context.Context, err error) bool {
	return errors.Is(err, vici.ErrGone) || err != nil && ctx.Err() != nil
}

// try notes what charon refused. It returns an error only where the session is at an
// end.
func (l *StatusLoop) try(ctx context.Context, subject string, what any, err error) error {
	l.alive()
	switch {
	case err == nil:
		delete(l.charon.refused, subject)
		l.say(subject, "")
		return nil
	case fatal(ctx, err):
		return err
	}
	l.counts.refusals++
	l.charon.refused[subject] = refusal{what, err.Error(), l.Now().Add(refusalPause)}
	l.say(subject, err.Error())
	return nil
}

// refuses tells whether charon has just refused the very same.
func (l *StatusLoop) refuses(subject string, what any) bool {
	r, there := l.charon.refused[subject]
	return there && reflect.DeepEqual(r.what, what)
}

// What refusals are of.
func keySubject(peer string) string        { return "key of " + peer }
func connectionSubject(peer string) string { return "connection " + peer }

// push makes charon's keys and connections those that are wanted, each peer's key
// before its connection. Connections are only loaded while a ruleset is in force,
// because an SA that comes up lets packets in. It reports whether time ran out before
// all was done.
func (l *StatusLoop) push(ctx context.Context, ruleset bool) (more bool, err error) {
	clear(l.charon.before)
	maps.DeleteFunc(l.charon.refused, func(_ string, r refusal) bool { return !l.Now().Before(r.until) })
	if err := l.withdraw(ctx); err != nil {
		return false, err
	}
	deadline, whole := l.Now().Add(l.Push), true
	for _, name := range l.want.order {
		if l.Now().After(deadline) {
			return true, nil
		}
		if err := l.pushKey(ctx, name); err != nil {
			return false, err
		}
		done, err := l.pushConnection(ctx, name, ruleset)
		if err != nil {
			return false, err
		}
		whole = whole && done
	}
	l.noteInForce(whole)
	return false, nil
}

// withdraw takes back what is not wanted: charon is this gateway's alone, so whatever
// the file doesn't name goes.
func (l *StatusLoop) withdraw(ctx context.Context) error {
	c, wantedIDs := &l.charon, map[string]bool{}
	for _, name := range l.want.order {
		wantedIDs[l.want.keyID(name)] = true
	}
	for _, name := range sortedKeys(c.names) {
		if l.wants(name) {
			continue
		}
		err := c.session.Unload(ctx, name)
		if err := l.try(ctx, connectionSubject(name), "unload", err); err != nil {
			return err
		}
		if err != nil {
			continue
		}
		delete(c.names, name)
		delete(c.loaded, name)
		l.Log.Info("connection removed", "peer", name)
	}
	for _, id := range sortedKeys(c.ids) {
		if wantedIDs[id] {
			continue
		}
		if err := l.unloadKey(ctx, id, id); err != nil {
			return err
		}
	}
	return nil
}

func (l *StatusLoop) unloadKey(ctx context.Context, id, name string) error {
	err := l.charon.session.UnloadKey(ctx, id)
	if tried := l.try(ctx, keySubject(name), "unload", err); tried != nil || err != nil {
		return tried
	}
	delete(l.charon.ids, id)
	delete(l.charon.keys, id)
	return nil
}

// pushKey hands a peer's key over if it is another one than before, and takes it back
// where its Secret is gone. While the Secret can't be read, charon keeps what it has.
func (l *StatusLoop) pushKey(ctx context.Context, name string) error {
	c, id, peer := &l.charon, l.want.keyID(name), l.want.peers[name]
	v := l.vault.get(peer.PresharedKey)
	missing := peer.PresharedKey.Name == "" || v.known && (!v.found || len(v.data) == 0)
	key := given{peer.ID, v.data}
	had, there := c.keys[id]
	switch {
	case missing && c.ids[id]:
		return l.unloadKey(ctx, id, name)
	case missing || !v.known || there && had.equal(key) || l.refuses(keySubject(name), key):
		return nil
	}
	err := c.session.LoadKey(ctx, id, []string{peer.ID}, v.data)
	if tried := l.try(ctx, keySubject(name), key, err); tried != nil || err != nil {
		return tried
	}
	if r := l.memory.of(name); there && len(r.IKE) > 0 {
		r.Key = true
	}
	c.keys[id], c.ids[id] = key, true
	return nil
}

// pushConnection loads a connection that charon hasn't been given like this, and
// reports whether it has it. A new one waits for its key: a peer that is refused for
// want of it may not try again.
func (l *StatusLoop) pushConnection(ctx context.Context, name string, ruleset bool) (done bool, err error) {
	c, conn := &l.charon, l.want.connections[name]
	had, there := c.loaded[name]
	switch {
	case there && reflect.DeepEqual(had, conn):
		return true, nil
	case !ruleset, !c.names[name] && !c.ids[l.want.keyID(name)], l.refuses(connectionSubject(name), conn):
		return false, nil
	}
	err = c.session.Load(ctx, conn)
	if tried := l.try(ctx, connectionSubject(name), conn, err); tried != nil || err != nil {
		return false, tried
	}
	if there {
		c.before[name] = had
		l.Log.Info("connection changed", "peer", name)
	}
	if _, known := l.memory.negotiated[name]; !known {
		l.memory.negotiated[name] = conn
	}
	c.loaded[name], c.names[name] = conn, true
	return true, nil
}

// noteInForce tells since when charon, or the WireGuard device, has all that is wanted.
func (l *StatusLoop) noteInForce(whole bool) {
	switch {
	case !whole:
		l.want.inForce = time.Time{}
	case l.want.inForce.IsZero():
		l.want.inForce = l.Now()
		l.Log.Info("configuration in force", "hash", l.want.hash, "peers", len(l.want.expect.Peers))
	}
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
