package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/vpnctl/vpnctl/plan/roster"
	"github.com/vpnctl/vpnctl/plan/view"
)

type statusCommand struct {
	looking
	Watch  bool     `short:"w" help:"Go on: draw anew on a terminal, elsewhere print lines that change, until Ctrl-C."`
	Output string   `short:"o" enum:"table,wide,json" default:"table" help:"table, wide (more columns, virtual IPs, public keys) or json. Default: ${default}."`
	Names  []string `arg:"" optional:"" help:"Gateways as NS/NAME, with all their conditions, peers as NS/NAME/PEER, links by name. Default: all."`
}

// Help is what --help adds.
func (statusCommand) Help() string {
	return `Reads the gateways, peers and links in a cluster with one list of each kind, and prints what their statuses say. It looks at nothing else: not at the cloud, and at no file. What nobody has reported for too long is unknown, which is not down.

Examples:

    vpnctl status
    vpnctl status acme/dc1
    vpnctl status -n acme --watch
    vpnctl status -o json | jq '.gateways[] | select(.ready != "yes") | .name'

Exit codes: 0 the statuses could be read, whatever they say; 1 error, or an object that can't be read, after all others were shown. vpnctl wait asks whether all is well.`
}

func (c statusCommand) Run(g *Globals, s *streams, stop *interrupts) error {
	at, err := c.at(g, "status", c.Names)
	if err != nil {
		return err
	}
	cluster, err := at.driver.Roster(stop.ctx, at.which)
	switch {
	case c.Watch && stop.ctx.Err() != nil: // which is how watching ends
		return nil
	case err != nil:
		return err
	case cluster.Unseen != nil:
		at.which.Links = false // watching would wait for them
		fmt.Fprintln(s.stderr, "! "+view.Plain("ClusterLinks can't be seen: "+cluster.Unseen.Error()))
	}
	if c.Watch {
		return c.watch(g, s, stop, at)
	}
	shown, missing := cluster.Only(at.names)
	if err := c.print(s.stdout, shown, roster.Away{}, c.options(g, s), at); err != nil {
		return err
	}
	return errors.Join(absent(missing), unreadable(shown.Broken))
}

// unreadable is the error of what could not be shown.
func unreadable(all []roster.Unreadable) error {
	switch len(all) {
	case 0:
		return nil
	case 1:
		return fmt.Errorf("%s %s can't be read: correct or remove it", all[0].Kind, strings.TrimPrefix(all[0].Namespace+"/"+all[0].Name, "/"))
	}
	return fmt.Errorf("%d objects can't be read: correct or remove them", len(all))
}

func (c statusCommand) options(g *Globals, s *streams) view.StatusOptions {
	return view.StatusOptions{Width: width(s.stdout), Color: g.color(s.stdout), Wide: c.Output == "wide", All: len(c.Names) > 0, Now: time.Now()}
}

func (c statusCommand) print(w io.Writer, shown roster.Cluster, away roster.Away, o view.StatusOptions, at lookout) error {
	if c.Output == "json" {
		return roster.JSON(w, shown, away, o.Now, c.Watch)
	}
	if len(shown.Gateways)+len(shown.Links)+len(shown.Strays)+len(shown.Broken) == 0 && len(at.names) == 0 {
		_, err := fmt.Fprintln(w, "No gateways"+within(at.which)+".")
		return err
	}
	return view.Status(w, shown, o)
}
