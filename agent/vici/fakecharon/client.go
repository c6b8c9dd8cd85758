package fakecharon

import (
	"net"
	"sync"
)

// client is one session.
type client struct {
	charon *Charon
	conn   net.Conn

	mu     sync.Mutex // one packet at a time
	events map[string]bool
}

// known are the events that a client may register for.
var known = map[string]bool{
	"list-sa": true, "ike-updown": true, "ike-rekey": true,
	"child-updown": true, "child-rekey": true, "log": true, "control-log": true,
}

func (l *client) serve() {
	defer l.charon.serve.Done()
	defer func() {
		_ = l.conn.Close()
		l.charon.mu.Lock()
		delete(l.charon.clients, l)
		l.charon.mu.Unlock()
	}()
	for {
		p, err := readPacket(l.conn)
		if err != nil {
			return
		}
		l.charon.wait()
		if !l.answer(p) {
			return
		}
	}
}

// wait returns when the daemon isn't hanging.
func (c *Charon) wait() {
	for {
		c.mu.Lock()
		hung := c.hung
		c.mu.Unlock()
		if hung == nil {
			return
		}
		<-hung
	}
}

func (l *client) answer(p packet) bool {
	switch p.kind {
	case register, unregister:
		if !known[p.name] {
			return l.send(packet{kind: eventUnknown})
		}
		l.mu.Lock()
		l.events[p.name] = p.kind == register
		l.mu.Unlock()
		return l.send(packet{kind: confirm})
	case request:
		return l.command(p.name, p.body)
	}
	return false // charon hangs up on what it doesn't expect
}

func (l *client) command(name string, in Message) bool {
	run, ok := commands[name]
	if !ok {
		return l.send(packet{kind: requestUnknown})
	}
	c := l.charon
	c.mu.Lock()
	c.calls[name]++
	words := c.refusals[name]
	var out result
	if words != "" {
		out = refuse("%s", words)
	} else {
		out = run(c, in)
	}
	c.mu.Unlock()
	for _, e := range out.stream {
		if !l.notify(e) {
			return false
		}
	}
	if !l.send(packet{kind: response, body: out.answer}) {
		return false
	}
	for _, e := range out.events {
		c.Emit(e.name, e.body)
	}
	return true
}

// Emit sends an event to every session that is registered for it.
func (c *Charon) Emit(name string, body Message) {
	c.mu.Lock()
	var all []*client
	for client := range c.clients {
		all = append(all, client)
	}
	c.mu.Unlock()
	for _, client := range all {
		client.notify(packet{kind: event, name: name, body: body})
	}
}

// notify sends an event if the client registered for it.
func (l *client) notify(p packet) bool {
	l.mu.Lock()
	wanted := l.events[p.name]
	l.mu.Unlock()
	return !wanted || l.send(p)
}

func (l *client) send(p packet) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return p.write(l.conn) == nil
}
