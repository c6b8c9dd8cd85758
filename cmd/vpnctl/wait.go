package main

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/vpnctl/vpnctl/plan/roster"
)

type waitCommand struct {
	looking
	For         string        `enum:"ready,tunnel,deleted" default:"ready" help:"ready, tunnel (of a gateway: every peer is up; of road warriors only those that are named) or deleted. Default: ${default}."`
	Timeout     time.Duration `default:"5m" help:"How long. Default: ${default}; 0: look once."`
	KeepWaiting bool          `help:"Go on until the time is up where only an edit of a manifest helps, too."`
	Names       []string      `arg:"" optional:"" help:"Gateways as NS/NAME, peers as NS/NAME/PEER, or links by name. Default: all gateways."`
}

// Help is what --help adds.
func (waitCommand) Help() string {
	return `Waits until gateways, or links that are named, are as their manifests ask, as they were last edited. Who is named may come later; without names those count that are there, and one at least.

Examples:

    vpnctl wait acme/dc1
    vpnctl wait --for=tunnel --timeout 10m acme/dc1/plant1
    vpnctl wait --for=deleted acme/dc1
    vpnctl wait north

What is waited for stands on stderr, the result on stdout. Exit codes: 0 all have come, 3 the time is up, 4 only an edit of a manifest helps (the manifest isn't valid, or is being deleted), 1 error, 130 interrupted.`
}

// settled is how long what only an edit mends must last before a wait ends: whoever keeps
// the gateways may not have looked at the last edit of another manifest yet.
const settled = 10 * time.Second

func (c waitCommand) Run(g *Globals, s *streams, stop *interrupts) error {
	at, err := c.check(g)
	if err != nil {
		return err
	}
	cluster, err := at.driver.Roster(stop.ctx, at.which)
	if err = cmp.Or(err, cluster.Unseen); err != nil {
		return err
	}
	v := &vigil{command: c, at: at, goal: roster.Goal(c.For), began: time.Now()}
	if len(cluster.Gateways)+len(cluster.Broken) == 0 && len(at.names) == 0 {
		return errors.New("there are no gateways" + within(at.which) + " to wait for")
	}
	v.look(cluster, time.Now())
	if !v.over() && c.Timeout > 0 {
		if err := v.follow(g, s, stop); err != nil {
			return err
		}
	}
	return v.result(s)
}

func (c waitCommand) check(g *Globals) (lookout, error) {
	if c.Timeout < 0 {
		return lookout{}, fmt.Errorf("--timeout is %s, but can't be negative", c.Timeout)
	}
	if c.For == string(roster.GoalDeleted) && len(c.Names) == 0 {
		return lookout{}, errors.New("--for=deleted needs names: what isn't there any more can't be found without")
	}
	at, err := c.at(g, "wait", c.Names)
	if len(c.Names) == 0 {
		at.which.Links = false // only who is named is waited for
	}
	for _, n := range at.names {
		switch {
		case err != nil:
		case n.IsLink() && c.For == string(roster.GoalTunnel):
			err = fmt.Errorf("%s is a link, which has no tunnel: a gateway is NS/NAME", n)
		case n.Peer != "" && c.For == string(roster.GoalDeleted):
			err = fmt.Errorf("%s is a peer, whose end nobody waits for: its gateway's alone", n)
		}
	}
	return at, err
}
