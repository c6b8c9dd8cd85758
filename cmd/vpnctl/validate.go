package main

import (
	"fmt"
	"io"

	"github.com/vpnctl/vpnctl/plan/manifest"
)

type validateCommand struct {
	Format string   `enum:"text,json,github,sarif" default:"text" help:"text, json, github (workflow commands) or sarif."`
	Paths  []string `arg:"" optional:"" help:"Files, folders, or - for standard input. Default: this folder."`
}

// Help is what --help adds.
func (validateCommand) Help() string {
	return `Every problem of every file is reported in one run, with its line, its field and, where one is known, a way out. Neither a cloud nor a cluster is asked. Exit code 1 when there are errors; warnings alone are fine.

Examples:

    vpnctl validate gateways/
    kustomize build overlays/prod | vpnctl validate -`
}

func (c validateCommand) Run(g *Globals, s *streams) error {
	loaded, found, err := g.read(s, c.Paths, false)
	if err != nil {
		return err
	}
	if err := c.write(s.stdout, g.told(loaded, found), loaded.Files); err != nil {
		return err
	}
	if found.Errors() > 0 {
		return errSaid
	}
	return nil
}

func (c validateCommand) write(w io.Writer, found manifest.Diagnostics, files int) error {
	switch c.Format {
	case "json":
		return found.WriteJSON(w)
	case "github":
		return found.WriteGitHub(w)
	case "sarif":
		return found.WriteSARIF(w)
	}
	if err := writeDiagnostics(w, found); err != nil {
		return err
	}
	if len(found) > 0 {
		fmt.Fprintln(w)
	}
	_, err := fmt.Fprintln(w, found.Summary(files))
	return err
}
