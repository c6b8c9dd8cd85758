package vici

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	govici "github.com/strongswan/govici/vici"
)

// ErrGone says that a session can't be used any more, because charon went away,
// didn't answer in time or said something unintelligible: dial anew. After a restart
// charon knows no connection, no key and no SA.
var ErrGone = errors.New("the session with charon is gone")

// limit is how long a call may take unless a Session says otherwise.
const limit = 5 * time.Second

// Session is one client's session with charon. Its methods may be called from
// several goroutines; charon answers one after the other. An error that is not
// ErrGone is either charon's refusal, in charon's words, or the context's, when the
// call ended while it waited for another one; the session is as good as before.
type Session struct {
	// Limit is how long one call may take, waiting for an earlier call included.
	Limit time.Duration

	charon *govici.Session
	lines  []net.Conn
	turn   chan struct{} // holds one token while a call runs
}

// Dial opens a session on charon's socket. The socket's file outlives charon, and
// a charon that hangs still accepts a few sessions: that Dial succeeds says nothing
// about the daemon's health, a call to Version does.
func Dial(ctx context.Context, socket string) (*Session, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	s := &Session{Limit: limit, turn: make(chan struct{}, 1)}
	dial := func(context.Context, string, string) (net.Conn, error) {
		conn, err := (&net.Dialer{}).DialContext(ctx, "unix", socket)
		if err != nil {
			return nil, err
		}
		s.lines = append(s.lines, conn)
		return conn, nil
	}
	charon, err := govici.NewSession(govici.WithDialContext(dial))
	if err != nil {
		s.Close()
		return nil, fmt.Errorf("dialling charon: %w", err)
	}
	s.charon = charon
	return s, nil
}

// Close ends the session without a word to charon, which may be hanging. A call in
// flight returns ErrGone. Closing twice is fine.
func (s *Session) Close() {
	for _, l := range s.lines {
		_ = l.Close()
	}
}

// Version asks charon for its version, such as 5.9.8: the cheapest sign of life.
func (s *Session) Version(ctx context.Context) (string, error) {
	answer, err := s.call(ctx, "version", nil)
	if err != nil {
		return "", err
	}
	return fields{answer}.text("version"), nil
}

// refusal is charon's answer to a command that it understood and didn't carry out.
type refusal string

func (r refusal) Error() string { return string(r) }

// call sends a command and returns the answer. A refused command's answer comes with
// the refusal.
func (s *Session) call(ctx context.Context, command string, in *govici.Message) (*govici.Message, error) {
	var answer *govici.Message
	err := s.exchange(ctx, command, func() error {
		var err error
		answer, err = s.charon.CommandRequest(command, in)
		return verdict(answer, err)
	})
	return answer, err
}

// stream sends a command whose result comes as events of the given name before the
// answer, and returns all of them or an error.
func (s *Session) stream(ctx context.Context, command, event string, in *govici.Message) ([]*govici.Message, error) {
	var all []*govici.Message
	err := s.exchange(ctx, command, func() error {
		var err error
		all, err = s.charon.StreamedCommandRequest(command, event, in)
		if err != nil {
			return err
		}
		answer := all[len(all)-1]
		all = all[:len(all)-1]
		return verdict(answer, answer.Err())
	})
	return all, err
}

// verdict turns what the library says of an answer into a refusal.
func verdict(answer *govici.Message, err error) error {
	if err == nil || answer == nil {
		return err
	}
	return refusal(fields{answer}.text("errmsg"))
}

// exchange runs f, which writes to charon and reads the answer, when no other call
// does. If the context ends first the session is hung up, which ends f.
func (s *Session) exchange(ctx context.Context, command string, f func() error) error {
	ctx, cancel := context.WithTimeout(ctx, s.Limit)
	defer cancel()
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("asking charon for %s: %w", command, err)
	}
	// A line that broke says so itself, at the next word.
	stop := context.AfterFunc(ctx, s.Close)
	err := f()
	answered := stop()
	var no refusal
	switch {
	case err == nil:
		return nil
	case errors.As(err, &no):
		return fmt.Errorf("charon refused %s: %w", command, no)
	case !answered:
		err = ctx.Err()
	}
	s.Close()
	return fmt.Errorf("asking charon for %s: %w: %w", command, ErrGone, err)
}
