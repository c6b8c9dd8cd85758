package main

import "github.com/vpnctl/vpnctl/crds"

type crdsCommand struct{}

// Help is what --help adds.
func (crdsCommand) Help() string {
	return `The definitions carry every rule that admission can check, so that a cluster refuses at once what validate would.

Example:

    vpnctl crds | kubectl apply --server-side -f -`
}

func (crdsCommand) Run(s *streams) error {
	_, err := s.stdout.Write(crds.YAML())
	return err
}
