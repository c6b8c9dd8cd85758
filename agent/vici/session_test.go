package vici

import (
	"context"
	"errors"
	"net/netip"
	"path/filepath"
	"testing"
	"time"

	"github.com/vpnctl/vpnctl/agent/vici/fakecharon"
	"github.com/vpnctl/vpnctl/render/swanctl"
)

// daemon runs a fake charon for the test.
func daemon(t *testing.T) (*fakecharon.Charon, string) {
	t.Helper()
	socket := filepath.Join(t.TempDir(), "charon.vici")
	charon := fakecharon.New(socket)
	if err := charon.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(charon.Kill)
	return charon, socket
}

// dial opens a session that waits for an answer no longer than a test likes to.
func dial(t *testing.T, socket string) *Session {
	t.Helper()
	s, err := Dial(t.Context(), socket)
	if err != nil {
		t.Fatal(err)
	}
	s.Limit = 10 * time.Second
	t.Cleanup(s.Close)
	return s
}

// plant is a connection with two children.
func plant(name string) swanctl.Connection {
	child := func(name, remote string) swanctl.Child {
		return swanctl.Child{
			Name: name, Local: netip.MustParsePrefix("100.64.3.0/24"), Remote: []netip.Prefix{netip.MustParsePrefix(remote)},
			Proposals: []string{"aes256-sha256-ecp256", "aes256gcm16-prfsha384-ecp384"}, Lifetime: time.Hour,
		}
	}
	return swanctl.Connection{
		Name: name, LocalID: "203.0.113.20", Address: netip.MustParseAddr("198.51.100.7"), RemoteID: name + "@example.org",
		Proposals: []string{"aes256-sha256-ecp256"}, Lifetime: 4 * time.Hour, DPDDelay: 30 * time.Second, DPDTimeout: 150 * time.Second,
		Children: []swanctl.Child{child(name+"-a", "192.168.10.0/24"), child(name+"-b", "192.168.11.0/24")},
	}
}

// loaded has a connection with its key.
func loaded(t *testing.T, s *Session, name string) swanctl.Connection {
	t.Helper()
	c := plant(name)
	if err := s.LoadKey(t.Context(), name, []string{c.LocalID, c.RemoteID}, []byte("correct horse")); err != nil {
		t.Fatal(err)
	}
	if err := s.Load(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	return c
}

// calls are all that a session can be asked.
var calls = map[string]func(context.Context, *Session) error{
	"version":  func(ctx context.Context, s *Session) error { _, err := s.Version(ctx); return err },
	"load":     func(ctx context.Context, s *Session) error { return s.Load(ctx, plant("a")) },
	"unload":   func(ctx context.Context, s *Session) error { return s.Unload(ctx, "a") },
	"names":    func(ctx context.Context, s *Session) error { _, err := s.Connections(ctx); return err },
	"key":      func(ctx context.Context, s *Session) error { return s.LoadKey(ctx, "a", []string{"a"}, []byte("k")) },
	"no key":   func(ctx context.Context, s *Session) error { return s.UnloadKey(ctx, "a") },
	"keys":     func(ctx context.Context, s *Session) error { _, err := s.Keys(ctx); return err },
	"initiate": func(ctx context.Context, s *Session) error { return s.Initiate(ctx, "a", "a-a") },
	"end all":  func(ctx context.Context, s *Session) error { _, err := s.TerminateConnection(ctx, "a"); return err },
	"end one":  func(ctx context.Context, s *Session) error { return s.TerminateSA(ctx, 1) },
	"child":    func(ctx context.Context, s *Session) error { _, err := s.TerminateChild(ctx, "a", "a-a"); return err },
	"list":     func(ctx context.Context, s *Session) error { _, err := s.SAs(ctx); return err },
}

// TestEveryCallEnds: whatever happens to charon, a call ends, says that the session is
// gone, and so does each call after it; with charon back, a new session works.
func TestEveryCallEnds(t *testing.T) {
	faults := map[string]func(*fakecharon.Charon){
		"charon hangs":             (*fakecharon.Charon).Hang,
		"charon is killed":         (*fakecharon.Charon).Kill,
		"charon drops the session": (*fakecharon.Charon).Drop,
	}
	for sentence, fault := range faults {
		for name, call := range calls {
			t.Run(sentence+", "+name, func(t *testing.T) {
				charon, socket := daemon(t)
				s := dial(t, socket)
				if _, err := s.Version(t.Context()); err != nil {
					t.Fatal(err)
				}
				s.Limit = 50 * time.Millisecond
				fault(charon)
				if err := call(t.Context(), s); !errors.Is(err, ErrGone) {
					t.Fatalf("the call: %v", err)
				}
				s.Limit = time.Hour
				if err := call(t.Context(), s); !errors.Is(err, ErrGone) {
					t.Fatalf("the next call: %v", err)
				}
				if err := charon.Restart(); err != nil {
					t.Fatal(err)
				}
				if _, err := dial(t, socket).Version(t.Context()); err != nil {
					t.Errorf("a new session: %v", err)
				}
			})
		}
	}
}

func TestTheContextEndsACall(t *testing.T) {
	charon, socket := daemon(t)
	s := dial(t, socket)
	charon.Hang()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	_, err := s.SAs(ctx)
	if !errors.Is(err, ErrGone) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

// TestABelatedAnswerIsNobodys: the answer to a call that ended early is not taken for
// the answer to the next one.
func TestABelatedAnswerIsNobodys(t *testing.T) {
	charon, socket := daemon(t)
	s := dial(t, socket)
	charon.Hang()
	s.Limit = 30 * time.Millisecond
	if _, err := s.Connections(t.Context()); err == nil {
		t.Fatal("a hanging charon answered")
	}
	charon.Resume()
	if version, err := s.Version(t.Context()); !errors.Is(err, ErrGone) {
		t.Errorf("version %q, %v", version, err)
	}
}

// TestWaitingHarmsNoSession: a call that ends before its turn came leaves the session
// to the call that has it.
func TestWaitingHarmsNoSession(t *testing.T) {
	charon, socket := daemon(t)
	s := dial(t, socket)
	charon.Hang()
	first := make(chan error)
	go func() { _, err := s.Version(context.Background()); first <- err }()
	for len(s.turn) == 0 {
		time.Sleep(time.Millisecond)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := s.Keys(ctx); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, ErrGone) {
		t.Errorf("the waiting call: %v", err)
	}
	if _, err := s.Keys(ctx); errors.Is(err, ErrGone) || err == nil {
		t.Errorf("a call whose context had ended: %v", err)
	}
	charon.Resume()
	if err := <-first; err != nil {
		t.Errorf("the first call: %v", err)
	}
	if _, err := s.Keys(t.Context()); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

func TestClosingEndsACall(t *testing.T) {
	charon, socket := daemon(t)
	s := dial(t, socket)
	charon.Hang()
	ended := make(chan error)
	go func() { _, err := s.SAs(context.Background()); ended <- err }()
	for len(s.turn) == 0 {
		time.Sleep(time.Millisecond)
	}
	s.Close()
	s.Close()
	if err := <-ended; !errors.Is(err, ErrGone) {
		t.Errorf("got %v", err)
	}
}

func TestARefusalHarmsNoSession(t *testing.T) {
	charon, socket := daemon(t)
	s := dial(t, socket)
	charon.Refuse("load-conn", "invalid value for: proposals, config discarded")
	err := s.Load(t.Context(), plant("a"))
	if err == nil || errors.Is(err, ErrGone) {
		t.Errorf("refused: %v", err)
	}
	charon.Refuse("list-sas", "busy")
	if all, err := s.SAs(t.Context()); err == nil || errors.Is(err, ErrGone) {
		t.Errorf("a refused list: %v, %v", all, err)
	}
	charon.Refuse("load-conn", "")
	if err := s.Load(t.Context(), plant("a")); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

func TestDialFails(t *testing.T) {
	charon, socket := daemon(t)
	charon.Kill()
	for sentence, path := range map[string]string{"a socket left behind": socket, "no socket": socket + "2"} {
		if s, err := Dial(t.Context(), path); err == nil {
			s.Close()
			t.Errorf("%s: dialled", sentence)
		}
	}
}

// TestARestartedCharonIsEmpty is why everything has to be pushed again.
func TestARestartedCharonIsEmpty(t *testing.T) {
	charon, socket := daemon(t)
	c := loaded(t, dial(t, socket), "a")
	if err := charon.Restart(); err != nil {
		t.Fatal(err)
	}
	s := dial(t, socket)
	names, err := s.Connections(t.Context())
	keys, err2 := s.Keys(t.Context())
	if len(names)+len(keys) > 0 || err != nil || err2 != nil {
		t.Errorf("connections %v, keys %v, %v, %v", names, keys, err, err2)
	}
	if err := s.Initiate(t.Context(), c.Name, c.Children[0].Name); err == nil || errors.Is(err, ErrGone) {
		t.Errorf("initiating what isn't loaded: %v", err)
	}
}

func TestNoSessionIsLeftBehind(t *testing.T) {
	charon, socket := daemon(t)
	for range 20 {
		s := dial(t, socket)
		if _, err := s.Version(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.Close()
	}
	for end := time.Now().Add(5 * time.Second); charon.Sessions() > 0; {
		if time.Now().After(end) {
			t.Fatalf("%d sessions are open", charon.Sessions())
		}
		time.Sleep(time.Millisecond)
	}
}
