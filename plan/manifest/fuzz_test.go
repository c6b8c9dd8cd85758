package manifest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/vpnctl/vpnctl/plan/manifest"
)

// Whatever the text, Load returns, says where, and gives an estate only when there
// is nothing wrong with it; and that estate's own manifests are sound.
func FuzzLoad(f *testing.F) {
	for _, pattern := range []string{"testdata/rules/*.txtar", "testdata/reading/*.txtar"} {
		archives, err := filepath.Glob(pattern)
		if err != nil || len(archives) == 0 {
			f.Fatal(pattern, err)
		}
		for _, path := range archives {
			archive, err := txtar.ParseFile(path)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(sound.Replace(string(archive.Files[0].Data)))
		}
	}
	f.Add(link)
	f.Add(bomb())
	f.Add(wide(link))
	f.Add(strings.Replace(link, "{name: north}", `{name: north, annotations: {ipsec.bnerd.net/tenant-isolation-attested: "x; 2026-11-30", ipsec.bnerd.net/abandon-customer-side: "true"}}`, 1))
	f.Add(link + "---\n" + strings.NewReplacer("north", "south", "10.40.0.0/16", "10.40.1.0/24").Replace(link))
	f.Add(strings.Replace(link, "{name: north}", "{name: north, annotations: {ipsec.bnerd.net/cluster-links: 'a, ,A,a'}}", 1))
	f.Add("a: &a [*a]\n<<: *a\n? [x]\n: !!binary y\n")
	estate := filepath.Join(f.TempDir(), "vpnctl.yaml")
	if err := os.WriteFile(estate, []byte(strings.TrimPrefix(soundEstate, "\n---\n")), 0o644); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		loaded, found := manifest.Load([]string{"-"}, manifest.Options{EstateFile: estate, Stdin: strings.NewReader(text)})
		lines := strings.Count(text, "\n") + strings.Count(text, "\r") + strings.Count(text, "\u0085") + strings.Count(text, "\u2028") + strings.Count(text, "\u2029") + 1
		for _, d := range found {
			if d.File == "<stdin>" && (d.Line < 1 || d.Line > lines || d.Column < 1) {
				t.Errorf("%+v has no place in %d lines", d, lines)
			}
			if d.Message == "" {
				t.Errorf("%+v says nothing", d)
			}
		}
		if found.Errors() > 0 {
			if loaded.Estate.Name != "" {
				t.Error("an error, and an estate")
			}
			return
		}
		if err := loaded.Estate.Check(); err != nil {
			t.Errorf("what was read has not the shape of an estate: %v", err)
		}
		for _, l := range loaded.Estate.Links {
			if got, _ := l.Attested(); got.Who == "" && l.Cross() && found.Warnings() == 0 {
				t.Errorf("%s is not attested, and nobody says so", l.Owner)
			}
		}
		again(t, estate, loaded)
	})
}

// again loads the manifests of what was loaded.
func again(t *testing.T, estate string, loaded *manifest.Loaded) {
	var parts []string
	for _, g := range loaded.Estate.Gateways {
		for _, m := range g.Manifests {
			parts = append(parts, m.JSON)
		}
	}
	loaded.Estate.Links = nil
	next, found := manifest.Load([]string{"-"}, manifest.Options{EstateFile: estate, Stdin: strings.NewReader(strings.Join(parts, "\n---\n"))})
	if found.Errors() > 0 {
		t.Fatalf("what was written is refused: %v\n%s", found, strings.Join(parts, "\n"))
	}
	if a, b := written(t, loaded.Estate), written(t, next.Estate); a != b {
		t.Fatalf("what was written loads to something else:\n%s\n%s", a, b)
	}
}
