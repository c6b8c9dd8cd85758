package firewall

import (
	"errors"

	"github.com/vishvananda/netlink/nl"
	"github.com/vpnctl/vpnctl/render/nat"
)

// CutFlows ends the translated connections that a ruleset doesn't grant, and those of a
// peer that has more than it may, and tells how many. It decides by the ruleset alone
// and not by what was in force before, so it may come at any time after Apply; the
// connections of others, which aren't translated, it never touches.
//
// The ruleset drops the packets of what it doesn't grant by itself. What is left are
// connections to a former target, and what the kernel keeps for nothing. Its count of a
// peer's connections begins anew with each ruleset, so that those of before are counted
// here.
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
	cut, failed := kernel.end(ungranted)
	if err == nil {
		err = failed
	}
	return cut, err
}

// ungranted lists before anything is deleted, because the kernel's list loses its
// place over a deletion. A list that was disturbed all the same is read again.
func (c connections) ungranted(g grants) (all *deletions, err error) {
	all = &deletions{}
	for range 3 {
		all.reset()
		count := map[string]int{}
		err = c.each(func(l listed) error {
			f, err := l.flow()
			if err != nil {
				return err
			}
			if !g.allow(f) || g.surplus(f, count) {
				all.add(l)
			}
			return nil
		})
		if !errors.Is(err, nl.ErrDumpInterrupted) {
			break
		}
	}
	return all, err
}
