package manifest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/vpnctl/vpnctl/plan/manifest"
)

// Each archive of testdata/reading is a tree of files. The last line of its
// comment gives the paths to load, with --estate before its file and --survey for
// what was not read; want holds what is told, the notes, and what was read. GATEWAY, PEER and ESTATE in a file stand
// for sound manifests.
func TestReading(t *testing.T) {
	archives, err := filepath.Glob("testdata/reading/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatal("no archives", err)
	}
	for _, path := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			path, err := filepath.Abs(path)
			if err != nil {
				t.Fatal(err)
			}
			archive, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			last := len(archive.Files) - 1
			t.Chdir(t.TempDir())
			unpack(t, archive.Files[:last])
			got := outcome(strings.Split(strings.TrimSpace(string(archive.Comment)), "\n"))
			if *update {
				archive.Files[last].Data = []byte(got)
				if err := os.WriteFile(path, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if diff := cmp.Diff(string(archive.Files[last].Data), got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// sound are manifests without fault to read in these tests.
var sound = strings.NewReplacer(
	"GATEWAY", `apiVersion: vpn.bnerd.net/v1alpha1
kind: VPNGateway
metadata: {name: dc1, namespace: acme}
spec:
  protocol: ipsec
  ipsec: {ike: {version: 2, proposals: [aes256-sha256-ecp256]}}`,
	"PEER", `apiVersion: vpn.bnerd.net/v1alpha1
kind: VPNPeer
metadata: {name: plant1, namespace: acme}
spec:
  gatewayRef: dc1
  ipsec:
    peer: {address: 198.51.100.7, id: fw1}
    remoteSubnets: [192.168.10.0/24]
    esp: {proposals: [aes256-sha256-ecp256]}
    pskSecretRef: {name: psk, key: psk}`,
	"ESTATE", `apiVersion: vpnctl.bnerd.net/v1alpha1
kind: Estate
metadata: {name: prod}
spec:
  openstack: {network: transit, router: edge, floatingIPPool: public}
  kubernetes:
    target: directory
    nodes: [{name: worker-1, serverID: c3f0ea92-3c32-4141-bf59-214fe50dcac9}]`,
)

func unpack(t *testing.T, files []txtar.File) {
	t.Helper()
	for _, f := range files {
		if err := os.MkdirAll(filepath.Dir(f.Name), 0o755); err != nil {
			t.Fatal(err)
		}
		text := sound.Replace(string(f.Data))
		if target, ok := strings.CutPrefix(text, "LINK "); ok {
			if err := os.Symlink(strings.TrimSpace(target), f.Name); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err := os.WriteFile(f.Name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// outcome loads what the last line says and tells everything about it.
func outcome(comment []string) string {
	var o manifest.Options
	var paths []string
	words := strings.Fields(comment[len(comment)-1])
	for i := 1; i < len(words); i++ {
		switch words[i] {
		case "--estate":
			i++
			o.EstateFile = words[i]
		case "--survey":
			o.Survey = true
		case "-":
			o.Stdin = strings.NewReader(sound.Replace("GATEWAY\n---\nPEER\n"))
			paths = append(paths, "-")
		default:
			paths = append(paths, words[i])
		}
	}
	loaded, found := manifest.Load(paths, o)
	var b strings.Builder
	found.WriteText(&b)
	loaded.Notes.WriteText(&b)
	fmt.Fprintf(&b, "%s\n", found.Summary(loaded.Files))
	if found.Errors() == 0 {
		fmt.Fprintf(&b, "estate %s in %s\n", loaded.Estate.Name, loaded.Root)
	}
	for _, g := range loaded.Estate.Gateways {
		fmt.Fprintf(&b, "%s at %s", g.Owner, g.Position)
		for _, p := range g.Peers {
			fmt.Fprintf(&b, ", %s at %s", p.Name, p.Position)
		}
		b.WriteString("\n")
	}
	surveyed(&b, loaded)
	return b.String()
}

// surveyed tells what was not read.
func surveyed(b *strings.Builder, loaded *manifest.Loaded) {
	var lines []string
	for owner, file := range loaded.Unread {
		lines = append(lines, fmt.Sprintf("unread: %s in %s\n", owner, file))
	}
	for peer, file := range loaded.UnreadPeers {
		lines = append(lines, fmt.Sprintf("unread: peer %s in %s\n", peer, file))
	}
	slices.Sort(lines)
	b.WriteString(strings.Join(lines, ""))
	for _, name := range loaded.Obscure {
		fmt.Fprintf(b, "obscure: %s\n", name)
	}
}
