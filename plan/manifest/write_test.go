package manifest_test

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/plan/manifest"
)

// awkward are diagnostics with everything that a format has to escape.
var awkward = manifest.Diagnostics{
	{
		File: "gateways/a,b:c.yaml", Line: 9, Column: 7, Document: 2, Object: "VPNPeer acme/plant2",
		Field: "spec.ipsec.remoteSubnets[0]", Message: "192.168.10.0/24 overlaps 192.168.0.0/16 of acme/plant1 (p1.yaml:9:7)",
		Hint: "traffic for the overlap could only reach one of them", Severity: manifest.Error,
		Related: []manifest.Position{{File: "p1.yaml", Line: 9, Column: 7}},
	},
	{File: "gateways/a.yaml", Line: 3, Column: 1, Field: "spec.\n::error::", Message: "100% <wrong>\r\n& more", Severity: manifest.Warning},
	{File: "prod/kustomization.yaml", Object: "VPNGateway acme/dc1", Field: "spec.protocol", Message: "no lines here", Severity: manifest.Error},
	{File: "deploy", Message: "skipped", Severity: manifest.Note},
}

func TestFormats(t *testing.T) {
	for name, write := range map[string]func(manifest.Diagnostics, io.Writer) error{
		"text": manifest.Diagnostics.WriteText, "json": manifest.Diagnostics.WriteJSON,
		"github": manifest.Diagnostics.WriteGitHub, "sarif": manifest.Diagnostics.WriteSARIF,
	} {
		t.Run(name, func(t *testing.T) {
			var got bytes.Buffer
			if err := write(awkward, &got); err != nil {
				t.Fatal(err)
			}
			golden := filepath.Join("testdata/format", name)
			if *update {
				if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got.String()); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// What can't be seen, or turns the reading direction, stands there as an escape.
func TestTextIsHarmless(t *testing.T) {
	var got bytes.Buffer
	err := manifest.Diagnostics{{
		File: "a\x1b[2J.yaml", Line: 1, Column: 1, Field: "spec.\u202e", Message: "Größe\u200b\u2028 …", Hint: "\u2066yes\a?", Severity: manifest.Error,
	}}.WriteText(&got)
	if err != nil {
		t.Fatal(err)
	}
	want := `a\x1b[2J.yaml:1:1: spec.\u202e: Größe\u200b\u2028 …` + "\n" + `    hint: \u2066yes\a?` + "\n"
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// Nothing to tell is still a whole document in the formats that machines read.
func TestNothingToTell(t *testing.T) {
	for name, write := range map[string]func(manifest.Diagnostics, io.Writer) error{
		"json": manifest.Diagnostics.WriteJSON, "sarif": manifest.Diagnostics.WriteSARIF,
	} {
		var got bytes.Buffer
		if err := write(nil, &got); err != nil || !json.Valid(got.Bytes()) || bytes.Contains(got.Bytes(), []byte("null")) {
			t.Errorf("%s: %v\n%s", name, err, got.String())
		}
	}
}

func TestSummary(t *testing.T) {
	for want, c := range map[string]struct {
		found manifest.Diagnostics
		files int
	}{
		"2 errors, 1 warning in 7 files":  {awkward, 7},
		"1 error, 0 warnings in 1 file":   {awkward[:1], 1},
		"0 errors, 0 warnings in 0 files": {nil, 0},
	} {
		if got := c.found.Summary(c.files); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// Thousands of diagnostics help nobody: people see 50, machines 1,000, errors
// first, and all learn how many there are.
func TestManyDiagnosticsAreCut(t *testing.T) {
	var many manifest.Diagnostics
	for i := range 3000 {
		d := manifest.Diagnostic{File: "a.yaml", Line: i + 1, Column: 1, Message: "odd", Severity: manifest.Warning}
		if i%100 == 99 {
			d.Message, d.Severity = "wrong", manifest.Error
		}
		many = append(many, d)
	}
	for name, c := range map[string]struct {
		write func(manifest.Diagnostics, io.Writer) error
		odd   int
		told  string
	}{
		"text":   {manifest.Diagnostics.WriteText, 20, "… and 2950 more\n"},
		"json":   {manifest.Diagnostics.WriteJSON, 970, `"omitted": 2000,`},
		"github": {manifest.Diagnostics.WriteGitHub, 970, "::notice::… and 2000 more\n"},
		"sarif":  {manifest.Diagnostics.WriteSARIF, 970, `"omitted": 2000`},
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			if err := c.write(many, &b); err != nil {
				t.Fatal(err)
			}
			text := b.String()
			got := [3]int{strings.Count(text, "wrong"), strings.Count(text, "odd"), strings.Count(text, c.told)}
			if want := [3]int{30, c.odd, 1}; got != want {
				t.Errorf("errors, warnings and counts are %v, want %v", got, want)
			}
		})
	}
}
