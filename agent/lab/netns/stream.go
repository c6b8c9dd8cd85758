//go:build e2e

package netns

import (
	"encoding/binary"
	"fmt"
	"net"
	"sync"
	"testing"
	"time"
)

// Stream is a connection that carries numbers to an echo and back, and notes when the
// last one came.
type Stream struct {
	conn net.Conn
	mu   sync.Mutex
	last time.Time
	gap  time.Duration // longest between two
	got  uint32
	err  error
}

// Stream opens a stream of one number each 20 ms, from an address, empty for any. It
// ends with the test.
func (n Namespace) Stream(t *testing.T, from, to string) *Stream {
	t.Helper()
	conn, err := n.Dial(from, to, 5*time.Second)
	if err != nil {
		t.Fatalf("no stream to %s: %v", to, err)
	}
	s := &Stream{conn: conn, last: time.Now()}
	var done sync.WaitGroup
	done.Go(s.send)
	done.Go(s.receive)
	t.Cleanup(func() {
		conn.Close()
		done.Wait()
	})
	return s
}

func (s *Stream) send() {
	for i := uint32(1); ; i++ {
		if binary.Write(s.conn, binary.BigEndian, i) != nil {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func (s *Stream) receive() {
	for {
		var i uint32
		err := binary.Read(s.conn, binary.BigEndian, &i)
		if !s.note(i, err) {
			return
		}
	}
}

// note takes down what came, and tells whether the stream goes on.
func (s *Stream) note(i uint32, err error) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil && i != s.got+1 {
		err = fmt.Errorf("after %d came %d", s.got, i)
	}
	if err != nil {
		s.err = err
		return false
	}
	now := time.Now()
	s.got, s.gap, s.last = i, max(s.gap, now.Sub(s.last)), now
	return true
}

// Silence is how long nothing has come.
func (s *Stream) Silence() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Since(s.last)
}

// Longest is the longest pause so far, and what ended the connection, if anything did.
func (s *Stream) Longest() (time.Duration, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return max(s.gap, time.Since(s.last)), s.err
}

// Ended waits until nothing has come for a while, and fails the test if something always
// does. What had come before is still on its way for as long as the machine is busy.
func (s *Stream) Ended(t *testing.T) {
	t.Helper()
	for end := time.Now().Add(patience); s.Silence() < 700*time.Millisecond; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Errorf("it still flows %s later", patience)
			return
		}
	}
}

// GoesOn waits until more has come, and tells whether it has.
func (s *Stream) GoesOn() bool { return s.Flows(patience) }

// Flows tells whether anything more comes within some time.
func (s *Stream) Flows(within time.Duration) bool {
	count := func() uint32 {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.got
	}
	start := count()
	for end := time.Now().Add(within); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if count() > start+1 { // one may have been on its way
			return true
		}
	}
	return false
}
