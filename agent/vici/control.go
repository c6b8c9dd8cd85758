package vici

import (
	"context"
	"fmt"
	"strconv"
)

// soon makes charon answer when the work is queued rather than when it is done,
// which with a peer that doesn't answer takes minutes.
const soon = "-1"

// Initiate asks charon to bring up a child of a connection, and its IKE SA where
// there is none. It returns once that is queued: what becomes of it is to be seen in
// SAs, and why it failed is told by Listen. A child that is up stays as it is.
func (s *Session) Initiate(ctx context.Context, connection, child string) error {
	in, err := message("ike", connection, "child", child, "timeout", soon)
	if err != nil {
		return err
	}
	if _, err := s.call(ctx, "initiate", in); err != nil {
		return fmt.Errorf("initiating %s of %s: %w", child, connection, err)
	}
	return nil
}

// TerminateConnection ends every IKE SA of a connection, and returns how many there
// were. The peer is told; whether it answers isn't waited for.
func (s *Session) TerminateConnection(ctx context.Context, name string) (int, error) {
	return s.terminate(ctx, "ike", name, "force", "yes")
}

// TerminateChild ends every child SA of that name under a connection, and returns how
// many there were. The IKE SA stays. A child is gone when the peer has answered.
func (s *Session) TerminateChild(ctx context.Context, connection, child string) (int, error) {
	return s.terminate(ctx, "ike", connection, "child", child)
}

// TerminateSA ends one IKE SA by its ID; that it isn't there is no error.
func (s *Session) TerminateSA(ctx context.Context, id uint32) error {
	_, err := s.terminate(ctx, "ike-id", strconv.FormatUint(uint64(id), 10), "force", "yes")
	return err
}

func (s *Session) terminate(ctx context.Context, pairs ...string) (int, error) {
	in, err := message(append(pairs, "timeout", soon)...)
	if err != nil {
		return 0, err
	}
	answer, err := s.call(ctx, "terminate", in)
	if refused(err, "no matching SAs") {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("terminating %s %s: %w", pairs[0], pairs[1], err)
	}
	return int(fields{answer}.number("matches")), nil
}
