package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/alecthomas/kong"
)

// defaultSim is the folder of --sim without a value, beside the Estate's file.
const defaultSim = ".vpnctl/sim"

// simFlag asks for the simulated cloud. On the command line its value is
// optional: --sim, --sim=DIR.
type simFlag struct {
	On  bool
	Dir string // as it was given; empty: the default
}

// Decode reads the value where there is one.
func (f *simFlag) Decode(ctx *kong.DecodeContext) error {
	f.On = true
	if ctx.Scan.Peek().Type == kong.FlagValueToken {
		return ctx.Scan.PopValueInto("dir", &f.Dir)
	}
	return nil
}

// IsBool makes the value optional.
func (simFlag) IsBool() bool { return true }

// folder is where the simulated cloud keeps its state: what was given, or the
// default below base, which is then kept out of version control.
func (f simFlag) folder(base string) (string, error) {
	if f.Dir != "" {
		return f.Dir, nil
	}
	dir := filepath.Join(base, defaultSim)
	if err := ignored(filepath.Dir(dir)); err != nil {
		return "", fmt.Errorf("making the folder of the simulated cloud: %w", err)
	}
	return dir, nil
}

// ignored makes a folder that git does not look into.
func ignored(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(dir, ".gitignore"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = f.WriteString("*\n")
	return errors.Join(err, f.Close())
}
