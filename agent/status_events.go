package agent

import (
	"context"
	"maps"
	"sync"

	"github.com/vpnctl/vpnctl/agent/vici"
)

// inbox is what charon reports between two ticks, from the goroutine that listens.
type inbox struct {
	mu       sync.Mutex
	failures map[string]string                  // by connection: why the last negotiation failed
	children map[string]map[uint32]vici.ChildSA // by connection and ID: as they were when they came or went
}

// listen hears charon whenever a tick has found it, until ctx ends.
func (l *StatusLoop) listen(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-l.hark:
		}
		_ = vici.Listen(ctx, l.Socket, l.hear) // that charon went away, the next tick finds as well
		l.rouse()
	}
}

// hear notes an event. A change of an SA is looked at soon; why an attempt failed can
// wait for the next tick.
func (l *StatusLoop) hear(e vici.Event) {
	l.inbox.put(e)
	if e.Kind != vici.Failed {
		l.rouse()
	}
}

func (b *inbox) put(e vici.Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.failures == nil {
		b.failures, b.children = map[string]string{}, map[string]map[uint32]vici.ChildSA{}
	}
	switch {
	case e.Reason == "":
	case e.Kind == vici.Failed || b.failures[e.Connection] == "":
		b.failures[e.Connection] = e.Reason
	}
	if len(e.Children) > 0 && b.children[e.Connection] == nil {
		b.children[e.Connection] = map[uint32]vici.ChildSA{}
	}
	for _, c := range e.Children {
		b.children[e.Connection][c.ID] = c
	}
}

// collect takes what has come in: the reasons of failures, and the last counters of
// children that may be gone by now.
func (l *StatusLoop) collect() {
	l.inbox.mu.Lock()
	failures, children := l.inbox.failures, l.inbox.children
	l.inbox.failures, l.inbox.children = nil, nil
	l.inbox.mu.Unlock()
	maps.Copy(l.failures, failures)
	maps.DeleteFunc(l.failures, func(name, _ string) bool { _, expected := l.want.peers[name]; return !expected })
	for connection, all := range children {
		if _, expected := l.want.peers[connection]; !expected {
			continue
		}
		for _, c := range all {
			l.memory.of(connection).count([]vici.ChildSA{c})
		}
	}
}
