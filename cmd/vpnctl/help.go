package main

import (
	"slices"

	"github.com/alecthomas/kong"
)

// helpCommand is --help for those who type help first.
type helpCommand struct {
	Command []string `arg:"" optional:"" help:"A command. Default: the program."`
}

func (c helpCommand) Run(k *kong.Kong, s *streams) error {
	_, err := k.Parse(append(c.Command, "--help"))
	if _, explained := s.exited(); explained {
		return nil
	}
	return err
}

// strange are flags of every command that mean nothing in a gateway pod.
var strange = []string{"estate", "sim", "kubeconfig", "context", "color"}

// printHelp leaves out what means nothing to the command that is explained. The program
// ends with it.
func printHelp(o kong.HelpOptions, ctx *kong.Context) error {
	if len(ctx.Path) > 1 && ctx.Path[1].Command != nil && ctx.Path[1].Command.Name == "agent" {
		for _, f := range ctx.Model.Flags {
			f.Hidden = f.Hidden || slices.Contains(strange, f.Name)
		}
	}
	return kong.DefaultHelpPrinter(o, ctx)
}
