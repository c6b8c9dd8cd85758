package wireguard

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

func TestConfigHidesItsKeys(t *testing.T) {
	key, _ := newKey(t)
	c := Config{PrivateKey: key, Peers: []Peer{{Name: "one", Preshared: key}}}
	text := strings.TrimSpace(string(key))
	asJSON, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Info("config", "config", c, "key", key)
	slog.New(slog.NewJSONHandler(&log, nil)).Info("config", "config", c, "key", key)
	printed := string(asJSON) + log.String() + key.String()
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%o"} {
		printed += fmt.Sprintf(verb, c) + fmt.Sprintf(verb, &c) + fmt.Sprintf(verb, key)
	}
	var decimal strings.Builder
	for _, b := range key[:8] {
		fmt.Fprintf(&decimal, "%d ", b)
	}
	for _, form := range []string{text, hex.EncodeToString(key[:8]), strings.TrimSpace(decimal.String())} {
		if strings.Contains(strings.ToLower(printed), strings.ToLower(form)) {
			t.Errorf("a key is printed as %s", form)
		}
	}
	if !strings.Contains(printed, hidden) {
		t.Errorf("nothing says that there is a key: %s", printed)
	}
}
