package volume_test

import (
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/vpnctl/vpnctl/agent/volume"
)

func TestNothingWrittenIsNotFound(t *testing.T) {
	v := volume.Volume{Dir: t.TempDir()}
	_, keys, err1 := v.ReadKeys()
	_, dataplane, err2 := v.ReadDataplane()
	_, status, err3 := v.ReadStatus()
	if keys || dataplane || status || err1 != nil || err2 != nil || err3 != nil {
		t.Error("something is found in an empty volume", keys, dataplane, status, err1, err2, err3)
	}
}

func TestKeysArriveAsTheyAre(t *testing.T) {
	v := volume.Volume{Dir: t.TempDir()}
	want := volume.Keys{
		PrivateKey: []byte("2Pq\xff\x00 \"{}#\n"),
		Preshared:  map[string][]byte{"ina": []byte("one\n"), "site": {}},
	}
	for i, changed := range []bool{true, false} {
		if got, err := v.WriteKeys(want); err != nil || got != changed {
			t.Errorf("write %d: changed %v, %v", i, got, err)
		}
	}
	got, found, err := v.ReadKeys()
	if err != nil || !found {
		t.Fatal(found, err)
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	want.Preshared["ina"] = []byte("two\n")
	if changed, err := v.WriteKeys(want); err != nil || !changed {
		t.Errorf("another key: changed %v, %v", changed, err)
	}
}

func TestKeysAreForRootAlone(t *testing.T) {
	v := volume.Volume{Dir: t.TempDir()}
	leftover := filepath.Join(v.Dir, ".keys.json") // of a process killed in the middle
	if err := os.WriteFile(leftover, []byte("half"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := v.WriteKeys(volume.Keys{PrivateKey: []byte("k")}); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(v.Dir)
	if err != nil || len(entries) != 1 {
		t.Fatalf("%v, %v", entries, err)
	}
	info, err := entries[0].Info()
	if err != nil || info.Name() != "keys.json" || info.Mode() != 0o600 {
		t.Errorf("%s has mode %v, %v", info.Name(), info.Mode(), err)
	}
}

func TestErrorsHoldNoKey(t *testing.T) {
	v := volume.Volume{Dir: t.TempDir()}
	if err := os.WriteFile(filepath.Join(v.Dir, "keys.json"), []byte(`{"PrivateKey":"topsecret!"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, found, err := v.ReadKeys(); err == nil || found || strings.Contains(err.Error(), "topsecret") {
		t.Errorf("found %v, error %v", found, err)
	}
	if changed, err := (volume.Volume{Dir: v.Dir + "/gone"}).WriteKeys(volume.Keys{PrivateKey: []byte("topsecret")}); err == nil || changed || strings.Contains(err.Error(), "topsecret") {
		t.Errorf("changed %v, error %v", changed, err)
	}
}

func TestDataplaneArrivesSorted(t *testing.T) {
	v := volume.Volume{Dir: t.TempDir()}
	at := time.Date(2026, 11, 30, 1, 2, 3, 0, time.UTC)
	nic, dns := volume.Problem{Part: volume.PartNIC, Text: "missing", Since: at}, volume.Problem{Part: volume.PartDNS, Text: "no answer", Since: at}
	want := volume.Dataplane{
		Written: at, Interface: "net1", Problems: []volume.Problem{nic, dns},
		Ruleset: volume.Hash("a"), Config: volume.Hash("b"), RulesetSince: at, FlowsCut: 1, ReloadErrors: 2,
		Hosts:     []volume.Host{{Exposure: "web", Name: "web.example", Address: netip.MustParseAddr("10.0.0.7"), Checked: at}, {Exposure: "x", Name: "x", Problem: "no such name"}},
		WireGuard: &volume.WireGuard{PublicKey: "p", Userspace: true, Peers: []volume.WireGuardPeer{{Name: "ina", PublicKey: "q", Handshake: at, Received: 1 << 60, Sent: 3}}},
	}
	if err := v.WriteDataplane(want); err != nil {
		t.Fatal(err)
	}
	got, found, err := v.ReadDataplane()
	if err != nil || !found {
		t.Fatal(found, err)
	}
	want.Problems = []volume.Problem{dns, nic}
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b netip.Addr) bool { return a == b })); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestABrokenFileIsAnError(t *testing.T) {
	v := volume.Volume{Dir: t.TempDir()}
	if err := os.WriteFile(filepath.Join(v.Dir, "dataplane.json"), []byte(`{"written":`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, found, err := v.ReadDataplane(); err == nil || found {
		t.Errorf("found %v, error %v", found, err)
	}
}

func TestHash(t *testing.T) {
	if got, want := volume.Hash(""), "e3b0c44298fc1c14"; got != want {
		t.Errorf("got %s, want %s, as sha256sum begins", got, want)
	}
}
