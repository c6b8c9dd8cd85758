//go:build e2e

package vici

import (
	"errors"
	"testing"
	"time"
)

// busy is how much longer something may take where the machine has other work: what waits
// for a charon that hangs would wait for ever.
const busy = 20 * time.Second

// TestEveryCallToAStoppedCharonEnds: each kind of call, on a session of its own that
// worked before, on a new session, and on as many new ones as charon's queue holds.
func TestEveryCallToAStoppedCharonEnds(t *testing.T) {
	const patience = 300 * time.Millisecond
	n := newNode(t, "gw")
	n.Charon.Start(t)
	sessions := map[string]*Session{}
	for name := range calls {
		sessions[name] = dial(t, n.Socket())
		sessions[name].Limit = patience
		if _, err := sessions[name].Version(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	n.Hang(t)
	for name, call := range calls {
		start := time.Now()
		if err := call(t.Context(), sessions[name]); !errors.Is(err, ErrGone) {
			t.Errorf("%s: %v", name, err)
		}
		if took := time.Since(start); took > patience+busy {
			t.Errorf("%s took %s", name, took)
		}
	}
	for i := range 30 {
		start := time.Now()
		s, err := Dial(t.Context(), n.Socket())
		if err == nil {
			s.Limit = patience
			if _, err = s.Version(t.Context()); !errors.Is(err, ErrGone) {
				t.Errorf("new session %d: %v", i, err)
			}
			s.Close()
		}
		if took := time.Since(start); took > limit+busy {
			t.Errorf("new session %d took %s", i, took)
		}
	}
	n.Resume(t)
	n.Answers(t)
}

// TestAKilledCharon: calls and listeners notice at once; the socket that stays behind
// is no charon; with a new charon everything can be pushed again.
func TestAKilledCharon(t *testing.T) {
	c := tunnel("plant", 1)
	gateway, _, s, _ := established(t, c)
	_, ended := listen(t, t.Context(), gateway.Socket())
	gateway.Kill()
	for name, call := range calls {
		if err := call(t.Context(), s); !errors.Is(err, ErrGone) {
			t.Errorf("%s: %v", name, err)
		}
	}
	select {
	case err := <-ended:
		if !errors.Is(err, ErrGone) {
			t.Errorf("listening: %v", err)
		}
	case <-time.After(busy):
		t.Error("the listener didn't notice")
	}
	if late, err := Dial(t.Context(), gateway.Socket()); err == nil {
		late.Close()
		t.Error("dialled a dead charon")
	}
	gateway.Charon.Start(t)
	s = dial(t, gateway.Socket())
	names, err := s.Connections(t.Context())
	keys, err2 := s.Keys(t.Context())
	if len(names)+len(keys) > 0 || err != nil || err2 != nil {
		t.Errorf("the new charon has %v, %v, %v, %v", names, keys, err, err2)
	}
	pushed(t, s, []byte(password), c)
	initiate(t, s, c)
	up(t, s, c)
}
