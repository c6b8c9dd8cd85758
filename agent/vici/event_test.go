package vici

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/agent/vici/fakecharon"
)

// listen returns the events from when Listen listens, and how it ended.
func listen(t *testing.T, ctx context.Context, socket string) (<-chan Event, <-chan error) {
	t.Helper()
	heard, ended := make(chan Event, 1000), make(chan error, 1)
	go func() { ended <- Listen(ctx, socket, func(e Event) { heard <- e }) }()
	if e := next(t, heard); e.Kind != Listening {
		t.Fatalf("the first event is %v", e)
	}
	return heard, ended
}

func next(t *testing.T, heard <-chan Event) Event {
	t.Helper()
	select {
	case e := <-heard:
		return e
	case <-time.After(10 * time.Second):
		t.Fatal("no event")
		return Event{}
	}
}

func TestListenTellsWhy(t *testing.T) {
	for sentence, c := range map[string]struct {
		peer fakecharon.Peer
		key  bool
		want string
	}{
		"the peer refuses the key":       {fakecharon.Peer{Notify: AuthenticationFailed}, true, AuthenticationFailed},
		"the peer refuses the proposals": {fakecharon.Peer{Notify: NoProposalChosen}, true, NoProposalChosen},
		"the peer refuses the child":     {fakecharon.Peer{Notify: TSUnacceptable}, true, TSUnacceptable},
		"a key is missing":               {fakecharon.Peer{}, false, NoKey},
	} {
		t.Run(sentence, func(t *testing.T) {
			charon, socket := daemon(t)
			s := dial(t, socket)
			conn := loaded(t, s, "a")
			if !c.key {
				if err := s.UnloadKey(t.Context(), "a"); err != nil {
					t.Fatal(err)
				}
			}
			heard, _ := listen(t, t.Context(), socket)
			charon.Behave("a", c.peer)
			if err := s.Initiate(t.Context(), "a", conn.Children[0].Name); err != nil {
				t.Fatal(err)
			}
			for e := next(t, heard); ; e = next(t, heard) {
				if e.Kind == Failed {
					if e.Connection != "a" || e.Reason != c.want {
						t.Errorf("got %v, want %s", e, c.want)
					}
					break
				}
			}
		})
	}
}

// TestListenTellsOfChanges, the last counters of a child included, and of a
// connection whose name is a key of the event.
func TestListenTellsOfChanges(t *testing.T) {
	charon, socket := daemon(t)
	s := dial(t, socket)
	conn := loaded(t, s, "up")
	heard, _ := listen(t, t.Context(), socket)
	if err := s.Initiate(t.Context(), "up", conn.Children[0].Name); err != nil {
		t.Fatal(err)
	}
	for e := next(t, heard); len(e.Children) == 0; e = next(t, heard) {
		if e.Kind != Changed || e.Connection != "up" || e.SA == 0 {
			t.Errorf("coming up: %v", e)
		}
	}
	charon.Change(func(all []fakecharon.SA) []fakecharon.SA {
		all[0].Children[0].BytesIn = 4711
		return all
	})
	for len(heard) > 0 {
		<-heard
	}
	charon.Lose("up")
	for e := next(t, heard); ; e = next(t, heard) {
		if len(e.Children) == 1 && e.Children[0].BytesIn == 4711 {
			break
		}
	}
}

func TestListenEnds(t *testing.T) {
	for sentence, fault := range map[string]func(*fakecharon.Charon){
		"charon is killed":          (*fakecharon.Charon).Kill,
		"charon drops its sessions": (*fakecharon.Charon).Drop,
	} {
		t.Run(sentence, func(t *testing.T) {
			charon, socket := daemon(t)
			_, ended := listen(t, t.Context(), socket)
			fault(charon)
			if err := <-ended; !errors.Is(err, ErrGone) {
				t.Errorf("got %v", err)
			}
		})
	}
	t.Run("the context ends", func(t *testing.T) {
		charon, socket := daemon(t)
		ctx, cancel := context.WithCancel(t.Context())
		_, ended := listen(t, ctx, socket)
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		for end := time.Now().Add(5 * time.Second); charon.Sessions() > 0; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%d sessions are open", charon.Sessions())
			}
		}
	})
	t.Run("charon hangs from the start", func(t *testing.T) {
		charon, socket := daemon(t)
		charon.Hang()
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if err := Listen(ctx, socket, func(e Event) { t.Errorf("heard %v", e) }); err == nil {
			t.Error("ended without an error")
		}
	})
}

func TestReasons(t *testing.T) {
	for line, want := range map[string]string{
		"received AUTHENTICATION_FAILED notify error":                     AuthenticationFailed,
		"received NO_PROPOSAL_CHOSEN notify error":                        NoProposalChosen,
		"received NO_PROPOSAL_CHOSEN notify, no CHILD_SA built":           NoProposalChosen,
		"received TS_UNACCEPTABLE notify, no CHILD_SA built":              TSUnacceptable,
		"received FAILED_CP_REQUIRED notify, no CHILD_SA built":           "FAILED_CP_REQUIRED",
		"received TEMPORARY_FAILURE notify, will retry later":             "",
		"received COOKIE notify during rekeying, ignored":                 "",
		"received unexpected notify COOKIE for rekeyed IKE_SA, ignored":   "",
		"establishing IKE_SA failed, peer not responding":                 NoAnswer,
		"giving up after 5 retransmits":                                   NoAnswer,
		"giving up after 3 path probings":                                 "",
		"tried 1 shared key for 'a' - 'b', but MAC mismatched":            AuthenticationFailed,
		"tried to checkin and delete nonexistent IKE_SA":                  "",
		"no shared key found for 'a' - 'b'":                               NoKey,
		"traffic selectors 10.0.0.0/8 === 10.0.0.0/8 unacceptable":        TSUnacceptable,
		"unable to install inbound and outbound IPsec SA (SAD) in kernel": NotInstalled,
		"unable to install IPsec policies (SPD) in kernel":                NotInstalled,
		"received DELETE for IKE_SA a[3]":                                 ClosedByPeer,
		"received DELETE for ESP CHILD_SA with SPI c0ffee00":              "",
		"IKE_SA a[3] established between 10.0.0.1[gw]...10.0.0.2[p]":      "",
		"parsed IKE_AUTH response 1 [ N(AUTH_FAILED) ]":                   "",
		"received netlink error: No such process (3)":                     "",
		"sending retransmit 1 of request message ID 0, seq 1":             "",
		"no acceptable traffic selectors found":                           TSUnacceptable,
		"received  notify error":                                          "",
		"":                                                                "",
	} {
		if diff := cmp.Diff(want, reason(line)); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", line, diff)
		}
	}
}
