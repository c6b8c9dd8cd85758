package agent

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/vpnctl/vpnctl/agent/volume"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// away is an API server that doesn't answer.
type away struct{}

func (away) Secret(context.Context, vpn.SecretRef) ([]byte, bool, error) {
	return nil, false, errors.New("the API server is away")
}

// Charon and the agent end together while the API is away: the keys of before count.
func TestSecretsOutliveTheAgent(t *testing.T) {
	r := newRig(t)
	r.peer("ina", "olga")
	r.settled()
	file := filepath.Join(r.loop.Volume.Dir, "secrets.json")
	info, err := os.Stat(file)
	r.must(err)
	if info.Mode() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
	r.secret("olga", nil) // taken back, and so it stays
	r.now = r.now.Add(time.Minute)
	r.ticks(3)

	r.charon.Kill()
	r.must(r.charon.Start())
	r.restart()
	r.loop.vault.source = away{}
	r.ticks(6)
	r.says("ina", "ESTABLISHED", 2, "the API server is away")
	if got := r.charon.Keys(); len(got) != 1 || string(got[r.loop.want.keyID("ina")].Data) != string(secretOf("ina")) {
		t.Errorf("charon has %d keys", len(got))
	}
	// The API is back, and has another one.
	r.secret("ina", []byte("another"))
	r.loop.vault.source = r.files
	r.now = r.now.Add(time.Minute)
	r.ticks(3)
	if got := r.charon.Keys(); string(got[r.loop.want.keyID("ina")].Data) != "another" {
		t.Error("charon has the key of before")
	}
	r.drop("ina")
	r.ticks(2)
	if all, _, err := r.loop.Volume.ReadSecrets(); err != nil || len(all) != 0 {
		t.Errorf("%d keys of peers that are gone are kept: %v", len(all), err)
	}
}

// What can't be written, or isn't for this sandbox, is a problem that counts.
func TestVolumeThatCannotBeWritten(t *testing.T) {
	r := newRig(t)
	r.peer("ina")
	r.settled()
	for _, name := range []string{"status.json", "secrets.json"} { // in the way of the unfinished file
		r.must(os.MkdirAll(filepath.Join(r.loop.Volume.Dir, "."+name, "x"), 0o755))
	}
	r.secret("ina", []byte("another"))
	r.now = r.now.Add(time.Minute)
	r.ticks(3)
	r.shows(`vpnctl_problems{gateway="dc1",namespace="acme",part="volume"}`, `vpnctl_problems{gateway="dc1",namespace="acme",part="volume"} 2`)
	r.shows(`vpnctl_problems{gateway="dc1",namespace="acme",part="dataplane"}`, `vpnctl_problems{gateway="dc1",namespace="acme",part="dataplane"} 1`)
	r.says("ina", "ESTABLISHED", 2, "loaded, not in force")
	for _, name := range []string{"status.json", "secrets.json"} {
		r.must(os.RemoveAll(filepath.Join(r.loop.Volume.Dir, "."+name)))
	}
	r.ruleset("abc")
	r.ticks(2)
	r.shows(`vpnctl_problems{gateway="dc1",namespace="acme",part="volume"}`, `vpnctl_problems{gateway="dc1",namespace="acme",part="volume"} 0`)
	r.shows(`vpnctl_problems{gateway="dc1",namespace="acme",part="dataplane"}`, `vpnctl_problems{gateway="dc1",namespace="acme",part="dataplane"} 0`)
}

func TestDataplaneSaysThatNothingCanBeWritten(t *testing.T) {
	s, w := newSite(t), globexWorld(t)
	s.must(os.MkdirAll(filepath.Join(s.dir, "run", ".accepted.json", "x"), 0o755))
	s.write(w)
	s.keys(w)
	s.settle()
	s.complains("volume: writing ")
	s.must(os.RemoveAll(filepath.Join(s.dir, "run", ".accepted.json")))
	s.settle()
	s.settle()
	s.complains()
}

// After a sandbox was made anew, dataplane.json is about a network that is no more: no
// connection is loaded on its word.
func TestDataplaneOfAnotherSandboxIsNotBelieved(t *testing.T) {
	r := newRig(t)
	r.loop.Place = "2"
	r.must(r.loop.Volume.WriteDataplane(volume.Dataplane{Written: r.now, Network: "1", Ruleset: "abc"}))
	r.peer("ina")
	r.ticks(5)
	if got := r.charon.Connections(); len(got) != 0 {
		t.Errorf("%d connections without a ruleset in force", len(got))
	}
	r.must(r.loop.Volume.WriteDataplane(volume.Dataplane{Written: r.now, Network: "2", Ruleset: "abc"}))
	r.ticks(5)
	r.says("ina", "ESTABLISHED", 2, "")
}

func TestNetworkIsNamed(t *testing.T) {
	if a, b := volume.Network(), volume.Network(); a == "" || a != b {
		t.Errorf("this namespace is %q, and %q", a, b)
	}
}
