//go:build e2e

package vici

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	govici "github.com/strongswan/govici/vici"

	"github.com/vpnctl/vpnctl/agent/lab/netns"
	"github.com/vpnctl/vpnctl/render/swanctl"
)

// rendered writes connections as the planner does.
func rendered(t *testing.T, all ...swanctl.Connection) string {
	t.Helper()
	text, err := swanctl.Config{Connections: all}.Text()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "swanctl.conf")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestLoadSendsWhatSwanctlSends: the messages are the same, setting by setting.
func TestLoadSendsWhatSwanctlSends(t *testing.T) {
	charon, socket := daemon(t)
	joined := plant("joined")
	joined.Children = joined.Children[:1]
	joined.Children[0].Remote = append(joined.Children[0].Remote, plant("x").Children[1].Remote...)
	all := []swanctl.Connection{plant("a"), plant("b"), joined}
	netns.Run(t, "swanctl", "--load-conns", "--uri", "unix://"+socket, "--file", rendered(t, all...))
	want := charon.Connections()
	if len(want) != len(all) {
		t.Fatalf("swanctl loaded %d connections", len(want))
	}
	if err := charon.Restart(); err != nil {
		t.Fatal(err)
	}
	s := dial(t, socket)
	for _, c := range all {
		if err := s.Load(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(want, charon.Connections()); diff != "" {
		t.Errorf("(-swanctl +ours)\n%s", diff)
	}
}

// TestCharonListsTheSame, whoever loaded the connections.
func TestCharonListsTheSame(t *testing.T) {
	n := newNode(t, "gw")
	n.Charon.Start(t)
	all := []swanctl.Connection{plant("a"), plant("b")}
	n.Swanctl(t, "--load-conns", "--file", rendered(t, all...))
	s := dial(t, n.Socket())
	want := listed(t, s)
	if len(want) != len(all) {
		t.Fatalf("charon lists %v", want)
	}
	for _, c := range all {
		if err := s.Unload(t.Context(), c.Name); err != nil {
			t.Fatal(err)
		}
	}
	if rest := listed(t, s); len(rest) > 0 {
		t.Fatalf("left after unloading: %v", rest)
	}
	for _, c := range all {
		if err := s.Load(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(want, listed(t, s)); diff != "" {
		t.Errorf("(-swanctl +ours)\n%s", diff)
	}
	if err := s.Load(t.Context(), all[0]); err != nil {
		t.Errorf("once more: %v", err)
	}
}

// listed is all that charon says of its connections.
func listed(t *testing.T, s *Session) map[string]any {
	t.Helper()
	events, err := s.stream(t.Context(), "list-conns", "list-conn", nil)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]any{}
	for _, e := range events {
		for name, v := range plain(e) {
			all[name] = v
		}
	}
	return all
}

func plain(m *govici.Message) map[string]any {
	all := map[string]any{}
	for _, key := range m.Keys() {
		all[key] = m.Get(key)
		if sub, ok := all[key].(*govici.Message); ok {
			all[key] = plain(sub)
		}
	}
	return all
}

// TestFakecharonAnswersSwanctl: strongSwan's own client understands the fake.
func TestFakecharonAnswersSwanctl(t *testing.T) {
	_, socket := daemon(t)
	s := dial(t, socket)
	c := loaded(t, s, "a")
	initiate(t, s, c)
	out := netns.Run(t, "swanctl", "--list-sas", "--uri", "unix://"+socket)
	for _, want := range []string{"a: #1, ESTABLISHED, IKEv2", "AES_CBC-256/HMAC_SHA2_256_128/PRF_HMAC_SHA2_256/ECP_256", "a-a: #2, reqid 1, INSTALLED, TUNNEL", "remote 192.168.10.0/24"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	out = netns.Run(t, "swanctl", "--terminate", "--ike", "a", "--uri", "unix://"+socket)
	if all, err := s.SAs(t.Context()); len(all) > 0 || err != nil {
		t.Errorf("left %v, %v after\n%s", all, err, out)
	}
}
