package agent

import (
	"encoding/binary"
	"io"
	"net"
	"path/filepath"
	"sync"
	"testing"
)

// tap stands between the loop and charon, and lets something happen at one of the
// loop's calls: before charon gets it, or when charon has carried it out and its answer
// is on the way.
type tap struct {
	listener net.Listener
	charon   string
	serve    sync.WaitGroup

	mu    sync.Mutex
	calls int
	at    int  // the call at which it happens, from 1 on; 0: never
	after bool // charon gets the call first
	lines map[net.Conn]bool

	striking sync.Mutex
	event    func() // what happens; nil once it has, or isn't to any more
	struck   bool
}

func newTap(t *testing.T, charon string) *tap {
	t.Helper()
	l, err := net.Listen("unix", filepath.Join(t.TempDir(), "tap"))
	if err != nil {
		t.Fatal(err)
	}
	p := &tap{listener: l, charon: charon, lines: map[net.Conn]bool{}}
	p.serve.Go(p.accept)
	t.Cleanup(p.close)
	return p
}

func (p *tap) socket() string { return p.listener.Addr().String() }

func (p *tap) close() {
	p.listener.Close()
	p.cut()
	p.serve.Wait()
}

// arm counts calls anew, and lets something happen at one of them.
func (p *tap) arm(at int, after bool, event func()) {
	p.striking.Lock()
	defer p.striking.Unlock()
	p.event, p.struck = event, false
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls, p.at, p.after = 0, at, after
}

// disarm returns whether it has happened; from here on it doesn't any more, also where
// the loop has given a call up that is still on its way through.
func (p *tap) disarm() bool {
	p.striking.Lock()
	defer p.striking.Unlock()
	p.event = nil
	return p.struck
}

func (p *tap) strike() {
	p.striking.Lock()
	defer p.striking.Unlock()
	if p.event != nil {
		p.struck = true
		p.event()
		p.event = nil
	}
}

func (p *tap) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.calls
}

// cut breaks all lines.
func (p *tap) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.lines {
		c.Close()
	}
}

func (p *tap) accept() {
	for {
		loop, err := p.listener.Accept()
		if err != nil {
			return
		}
		charon, err := net.Dial("unix", p.charon)
		if err != nil {
			loop.Close()
			continue
		}
		p.mu.Lock()
		p.lines[loop], p.lines[charon] = true, true
		p.mu.Unlock()
		p.serve.Go(func() { p.carry(loop, charon) })
	}
}

// carry passes one session's calls on, one after another.
func (p *tap) carry(loop, charon net.Conn) {
	defer func() {
		loop.Close()
		charon.Close()
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.lines, loop)
		delete(p.lines, charon)
	}()
	for {
		call, err := frame(loop)
		if err != nil {
			return
		}
		p.mu.Lock()
		p.calls++
		now, after := p.calls == p.at, p.after
		p.mu.Unlock()
		if now && !after {
			p.strike()
		}
		if _, err := charon.Write(call); err != nil {
			return
		}
		for { // a stream's events come before the answer
			answer, err := frame(charon)
			if err != nil {
				return
			}
			if now && after && answer[4] != 7 {
				p.strike()
			}
			if _, err := loop.Write(answer); err != nil {
				return
			}
			if answer[4] != 7 {
				break
			}
		}
	}
}

// frame reads one packet, with its length.
func frame(r io.Reader) ([]byte, error) {
	head := make([]byte, 4)
	if _, err := io.ReadFull(r, head); err != nil {
		return nil, err
	}
	b := make([]byte, 4+binary.BigEndian.Uint32(head))
	copy(b, head)
	_, err := io.ReadFull(r, b[4:])
	return b, err
}
