package main

import "github.com/alecthomas/kong"

// defaultSim is the folder of --sim without a value.
const defaultSim = ".vpnctl/sim"

// simFlag is the folder of the simulated cloud; empty: the real one. On the
// command line its value is optional: --sim, --sim=DIR.
type simFlag string

// Decode reads the value where there is one.
func (f *simFlag) Decode(ctx *kong.DecodeContext) error {
	*f = defaultSim
	if ctx.Scan.Peek().Type == kong.FlagValueToken {
		return ctx.Scan.PopValueInto("dir", (*string)(f))
	}
	return nil
}

// IsBool makes the value optional.
func (simFlag) IsBool() bool { return true }
