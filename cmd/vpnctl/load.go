package main

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/vpnctl/vpnctl/plan/manifest"
	"github.com/vpnctl/vpnctl/plan/view"
)

// read reads manifests, and where asked for looks for those that stand beside them.
func (g *Globals) read(s *streams, paths []string, survey bool) (*manifest.Loaded, manifest.Diagnostics, error) {
	collectLate()
	loaded, found := manifest.Load(paths, manifest.Options{EstateFile: g.Estate, Stdin: s.stdin, Survey: survey})
	return loaded, found, s.interrupted()
}

// load reads manifests, and looks for those that stand beside them. Diagnostics go to stderr; with an error among them
// nothing else is done.
func (g *Globals) load(s *streams, paths []string) (*manifest.Loaded, error) {
	loaded, found, err := g.read(s, paths, true)
	if err != nil {
		return nil, err
	}
	if err := writeDiagnostics(s.stderr, g.told(loaded, found)); err != nil {
		return nil, err
	}
	if found.Errors() > 0 {
		fmt.Fprintf(s.stderr, "\n%s\nNothing was planned: an estate that can't be read in full is not read at all.\n", found.Summary(loaded.Files))
		return nil, errSaid
	}
	return loaded, nil
}

// told are the diagnostics that are shown: notes on what was left out on purpose
// only where more was asked for.
func (g *Globals) told(loaded *manifest.Loaded, found manifest.Diagnostics) manifest.Diagnostics {
	if g.Verbose > 0 {
		return slices.Concat(found, loaded.Notes)
	}
	return found
}

// writeDiagnostics writes diagnostics for people; what manifests say is made
// harmless for a terminal.
func writeDiagnostics(w io.Writer, found manifest.Diagnostics) error {
	var b bytes.Buffer
	if err := found.WriteText(&b); err != nil {
		return err
	}
	var out strings.Builder
	for line := range strings.Lines(b.String()) {
		out.WriteString(view.Plain(strings.TrimSuffix(line, "\n")))
		out.WriteByte('\n')
	}
	_, err := io.WriteString(w, out.String())
	return err
}
