package main

import "github.com/alecthomas/kong"

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
