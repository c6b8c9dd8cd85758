//go:build e2e

package lab

import (
	"encoding/binary"
	"io"
	"net"
	"sync"
	"testing"
	"time"
)

// echo sends back what it gets, on one address.
func echo(t *testing.T, n netns, address string) {
	t.Helper()
	l, err := n.listen(address)
	if err != nil {
		t.Fatal(err)
	}
	var done sync.WaitGroup
	done.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				_, _ = io.Copy(c, c)
			}()
		}
	})
	t.Cleanup(func() {
		l.Close()
		done.Wait()
	})
}

// stream is a connection that carries numbers to an echo and back, and notes when the
// last one came.
type stream struct {
	conn net.Conn
	mu   sync.Mutex
	last time.Time
	gap  time.Duration // longest between two
	got  uint32
	err  error
}

// streaming opens a stream of one number each 20 ms.
func streaming(t *testing.T, n netns, from, to string) *stream {
	t.Helper()
	conn, err := n.dial(from, to, 5*time.Second)
	if err != nil {
		t.Fatalf("no stream to %s: %v", to, err)
	}
	s := &stream{conn: conn, last: time.Now()}
	var done sync.WaitGroup
	done.Go(s.send)
	done.Go(s.receive)
	t.Cleanup(func() {
		conn.Close()
		done.Wait()
	})
	return s
}

func (s *stream) send() {
	for i := uint32(1); ; i++ {
		if binary.Write(s.conn, binary.BigEndian, i) != nil {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func (s *stream) receive() {
	for {
		var i uint32
		err := binary.Read(s.conn, binary.BigEndian, &i)
		s.mu.Lock()
		now := time.Now()
		if err == nil {
			s.got, s.gap, s.last = i, max(s.gap, now.Sub(s.last)), now
		} else {
			s.err = err
		}
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// silence is how long nothing has come.
func (s *stream) silence() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Since(s.last)
}

// longest is the longest pause so far, and whether the connection is up still.
func (s *stream) longest() (time.Duration, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return max(s.gap, time.Since(s.last)), s.err
}
