package firewall

import (
	"errors"

	"github.com/vishvananda/netlink/nl"
	"github.com/vpnctl/vpnctl/render/nat"
)

// CutFlows ends the translated connections that a ruleset doesn't grant, and tells
// how many. It decides by the ruleset alone and not by what was in force before, so
// it may come at any time after Apply; the connections of others, which aren't
// translated, it never touches. Their next packets meet the rules as new ones.
//
// A packet that passed the old rules on another processor while Apply ran may show
// up as a connection just after: one more call, seconds later, finds it.
func CutFlows(table nat.Table, hosts []Host) (cut int, err error) {
	grants, err := grantsOf(table, hosts)
	if err != nil {
		return 0, err
	}
	kernel, err := openConnections()
	if err != nil {
		return 0, err
	}
	defer kernel.close()
	ungranted, err := kernel.ungranted(grants)
	for _, f := range ungranted {
		ended, failed := kernel.end(f)
		if ended {
			cut++
		}
		if err == nil {
			err = failed // of thousands that fail alike, the first will do
		}
	}
	return cut, err
}

// ungranted lists before anything is deleted, because the kernel's list loses its
// place over a deletion. A list that was disturbed all the same is read again.
func (c connections) ungranted(g grants) (all []flow, err error) {
	for range 3 {
		all = all[:0]
		err = c.each(func(f flow) {
			if !g.allow(f) {
				all = append(all, f)
			}
		})
		if !errors.Is(err, nl.ErrDumpInterrupted) {
			break
		}
	}
	return all, err
}
