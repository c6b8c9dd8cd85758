package report_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/agent/report"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

func TestFolderSecrets(t *testing.T) {
	dir := t.TempDir()
	write := func(path, text string) {
		t.Helper()
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("secrets/ina/psk", "0x\x00\xff\n")
	write("outside/psk", "not a Secret")
	folder := report.Files(filepath.Join(dir, "secrets"))
	for sentence, c := range map[string]struct {
		ref   vpn.SecretRef
		want  string
		found bool
		errs  bool
	}{
		"the bytes as they are":   {vpn.SecretRef{Name: "ina", Key: "psk"}, "0x\x00\xff\n", true, false},
		"no such key":             {vpn.SecretRef{Name: "ina", Key: "other"}, "", false, false},
		"no such Secret":          {vpn.SecretRef{Name: "bob", Key: "psk"}, "", false, false},
		"no name":                 {vpn.SecretRef{Key: "ina"}, "", false, false},
		"no key":                  {vpn.SecretRef{Name: "ina"}, "", false, false},
		"a name that leads out":   {vpn.SecretRef{Name: "../outside", Key: "psk"}, "", false, true},
		"a folder where a key is": {vpn.SecretRef{Name: ".", Key: "ina"}, "", false, true},
	} {
		t.Run(sentence, func(t *testing.T) {
			data, found, err := folder.Secret(t.Context(), c.ref)
			if string(data) != c.want || found != c.found || (err != nil) != c.errs {
				t.Errorf("got %q, %v, %v", data, found, err)
			}
		})
	}
	if _, _, err := report.Files(filepath.Join(dir, "gone")).Secret(t.Context(), vpn.SecretRef{Name: "ina", Key: "psk"}); err == nil {
		t.Error("a folder that isn't there has no Secrets, it seems")
	}
}

func TestFolderStatus(t *testing.T) {
	folder := report.Files(t.TempDir())
	for _, want := range []report.Report{
		{Gateway: vpnGateway, Time: start, PublicKey: "k", Peers: []report.Peer{site, up("ina")}},
		{Gateway: ipsecGateway, Time: start, Peers: []report.Peer{}},
	} {
		if err := folder.Report(t.Context(), want); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(filepath.Join(folder.Dir, "status.json"))
		if err != nil {
			t.Fatal(err)
		}
		var got report.Report
		if err := json.Unmarshal(data, &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	}
}
