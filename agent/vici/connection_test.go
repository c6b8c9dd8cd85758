package vici

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/agent/vici/fakecharon"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/render/swanctl"
)

func TestLoadedConnection(t *testing.T) {
	charon, socket := daemon(t)
	loaded(t, dial(t, socket), "a")
	child := func(remote string) fakecharon.Message {
		return fakecharon.Message{
			"local_ts": []string{"100.64.3.0/24"}, "remote_ts": []string{remote}, "rekey_time": "3600s",
			"esp_proposals": []string{"aes256-sha256-ecp256", "aes256gcm16-prfsha384-ecp384"},
			"mode":          "tunnel", "start_action": "none", "dpd_action": "clear", "close_action": "none",
		}
	}
	want := fakecharon.Message{
		"version": "2", "local_addrs": []string{"%any"}, "remote_addrs": []string{"198.51.100.7"},
		"encap": "yes", "mobike": "no", "unique": "replace", "keyingtries": "1",
		"proposals": []string{"aes256-sha256-ecp256"}, "rekey_time": "14400s", "dpd_delay": "30s", "dpd_timeout": "150s",
		"local":    fakecharon.Message{"auth": "psk", "id": "203.0.113.20"},
		"remote":   fakecharon.Message{"auth": "psk", "id": "a@example.org"},
		"children": fakecharon.Message{"a-a": child("192.168.10.0/24"), "a-b": child("192.168.11.0/24")},
	}
	if diff := cmp.Diff(want, charon.Connections()["a"]); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestConnectionsComeAndGo(t *testing.T) {
	_, socket := daemon(t)
	s := dial(t, socket)
	for _, name := range []string{"b", "a", "b"} {
		loaded(t, s, name)
	}
	if err := s.Unload(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	if err := s.Unload(t.Context(), "a"); err != nil {
		t.Errorf("unloading what isn't there: %v", err)
	}
	names, err := s.Connections(t.Context())
	if diff := cmp.Diff([]string{"b"}, names); diff != "" || err != nil {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
}

// TestLoadRefuses what charon would understand otherwise, or the wire would cut.
func TestLoadRefuses(t *testing.T) {
	charon, socket := daemon(t)
	s := dial(t, socket)
	for sentence, change := range map[string]func(*swanctl.Connection){
		"an identity that is not known yet":  func(c *swanctl.Connection) { c.LocalID = resource.Unknown },
		"a pattern as identity":              func(c *swanctl.Connection) { c.RemoteID = "%any" },
		"no address":                         func(c *swanctl.Connection) { c.Address = netip.Addr{} },
		"a name that is too long":            func(c *swanctl.Connection) { c.Name = strings.Repeat("n", 256) },
		"a name of a child that is too long": func(c *swanctl.Connection) { c.Children[1].Name = strings.Repeat("n", 300) },
	} {
		t.Run(sentence, func(t *testing.T) {
			c := plant("a")
			change(&c)
			if err := s.Load(t.Context(), c); err == nil || errors.Is(err, ErrGone) {
				t.Errorf("got %v", err)
			}
			if n := len(charon.Connections()); n > 0 {
				t.Errorf("%d connections are loaded", n)
			}
		})
	}
	long := plant(strings.Repeat("n", 250))
	if err := s.Load(t.Context(), long); err != nil {
		t.Errorf("a name of %d bytes: %v", len(long.Name), err)
	}
	if _, ok := charon.Connections()[long.Name]; !ok {
		t.Error("a long name was cut")
	}
}

func TestSecretsArriveByteForByte(t *testing.T) {
	charon, socket := daemon(t)
	s := dial(t, socket)
	owners := []string{"203.0.113.20", "a@example.org"}
	want := map[string]fakecharon.Key{}
	for id, secret := range secrets() {
		if err := s.LoadKey(t.Context(), id, owners, secret); err != nil {
			t.Fatal(err)
		}
		want[id] = fakecharon.Key{Owners: owners, Data: secret}
	}
	if diff := cmp.Diff(want, charon.Keys()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if err := s.UnloadKey(t.Context(), "a NUL byte"); err != nil {
		t.Fatal(err)
	}
	if err := s.UnloadKey(t.Context(), "a NUL byte"); err != nil {
		t.Errorf("unloading what isn't there: %v", err)
	}
	ids, err := s.Keys(t.Context())
	if len(ids) != len(want)-1 || err != nil {
		t.Errorf("%d keys, %v; want %d", len(ids), err, len(want)-1)
	}
}

// secrets are what people put into a Secret, meant or not.
func secrets() map[string][]byte {
	every := make([]byte, 256)
	long := make([]byte, 4096)
	for i := range long {
		long[i] = byte('!' + i%90)
		every[i%256] = byte(i)
	}
	return map[string][]byte{
		"a word":               []byte("correct horse"),
		"a hex prefix":         []byte("0x41424344"),
		"a base64 prefix":      []byte("0sQUJDRA=="),
		"a line break at end":  []byte("secret\n"),
		"a CRLF at end":        []byte("secret\r\n"),
		"nothing but a break":  []byte("\n"),
		"spaces around":        []byte("  secret  "),
		"quotes":               []byte(`"secret'`),
		"braces and a comment": []byte("a { b = c } # d"),
		"a NUL byte":           []byte("before\x00after"),
		"a NUL at end":         []byte("secret\x00"),
		"not UTF-8":            {0xff, 0xfe, 0xc3, 0x28, 0x80},
		"every byte":           every,
		"4 KiB":                long,
	}
}

func TestLoadKeyRefuses(t *testing.T) {
	charon, socket := daemon(t)
	s := dial(t, socket)
	big := strings.Repeat("hunter2 ", 9000)
	for sentence, c := range map[string]struct {
		id     string
		owners []string
		secret string
	}{
		"an empty secret":                       {"a", []string{"a"}, ""},
		"a secret that nobody owns":             {"a", nil, "hunter2"},
		"a secret with an owner of no name":     {"a", []string{"a", ""}, "hunter2"},
		"a key without an id":                   {"", []string{"a"}, "hunter2"},
		"a secret that VICI's lengths can't do": {"a", []string{"a"}, big},
	} {
		err := s.LoadKey(t.Context(), c.id, c.owners, []byte(c.secret))
		if err == nil || strings.Contains(fmt.Sprint(err), "hunter2") {
			t.Errorf("%s: %v", sentence, err)
		}
	}
	if n := len(charon.Keys()); n > 0 {
		t.Errorf("%d keys are loaded", n)
	}
}
