package agent

import (
	"context"
	"fmt"
	"time"

	"github.com/vpnctl/vpnctl/agent/firewall"
	"github.com/vpnctl/vpnctl/agent/volume"
	"github.com/vpnctl/vpnctl/render/nat"
)

// Firewall is the pod's nftables table and the connections that the kernel follows.
type Firewall interface {
	// Apply puts a ruleset in force whole, unless it is.
	Apply(ctx context.Context, ruleset string, hosts []firewall.Host) (changed bool, err error)
	// Intact tells whether it still is; where it is not, the next Apply puts it back.
	Intact(ctx context.Context) (bool, error)
	// Cut ends the connections that a ruleset doesn't grant.
	Cut(nat.Table, []firewall.Host) (cut int, err error)
}

// ruleset is what this process knows to be in force.
type ruleset struct {
	inForce bool
	table   nat.Table
	hosts   []firewall.Host
	applied int // grows with every one that was put in force
	held    int // grants of the file that aren't open
}

// filter puts the ruleset in force and ends what it doesn't grant any more.
func (l *DataplaneLoop) filter(ctx context.Context) {
	if l.files.rules == nil {
		return
	}
	l.guard(ctx)
	type input struct{ files, names, owners int }
	ran := l.attempt(&l.tasks.ruleset, input{l.at.files, l.at.names, l.at.owners}, func() []string { return l.applyRules(ctx) })
	if ran && l.tasks.ruleset.failures == 1 {
		l.state.ReloadErrors++
	}
	l.cut()
}

// guard notices another hand. Until the ruleset is put back, the pod may forward
// whatever comes, so it looks often; as long as nothing has changed that costs one
// small message to the kernel.
func (l *DataplaneLoop) guard(ctx context.Context) {
	t := &l.tasks.guard
	if !l.ruleset.inForce {
		return
	}
	ran := l.attempt(t, nil, func() []string {
		ctx, cancel := context.WithTimeout(ctx, l.Call)
		defer cancel()
		intact, err := l.Firewall.Intact(ctx)
		if err == nil && !intact {
			l.Log.Warn("another hand has changed the ruleset: it is put back")
			l.tasks.ruleset.again()
		}
		return texts(err)
	})
	if ran && t.well() {
		t.due = l.Now().Add(l.Look)
	}
}

// applyRules applies the mounted ruleset. One that nft doesn't take leaves the one
// before in force, which still loses what agent.json doesn't grant any more.
func (l *DataplaneLoop) applyRules(ctx context.Context) []string {
	ctx, cancel := context.WithTimeout(ctx, l.Call)
	defer cancel()
	problems := texts(l.apply(ctx, l.files.rules))
	if p := l.files.proven; problems != nil && p != nil && p != l.files.rules {
		if err := l.apply(ctx, p); err != nil {
			problems = append(problems, "the ruleset before it: "+err.Error())
		}
	}
	return problems
}

// withheld says that grants of the ruleset in force are not open; empty: all are.
func (r *ruleset) withheld() string {
	switch r.held {
	case 0:
		return ""
	case 1:
		return "1 grant of the ruleset is not open: agent.json, or the tunnel, doesn't have it (yet)"
	}
	return fmt.Sprintf("%d grants of the ruleset are not open: agent.json, or the tunnel, doesn't have them (yet)", r.held)
}

// apply puts one ruleset in force, as far as both files agree.
func (l *DataplaneLoop) apply(ctx context.Context, r *rules) error {
	table, held := agreed(r.table, l.files.expect, l.holder)
	text, err := table.Text()
	if err != nil {
		return err
	}
	hosts := l.hosts()
	changed, err := l.Firewall.Apply(ctx, text, hosts)
	if err != nil {
		return err
	}
	l.files.proven, l.files.texts.Ruleset = r, r.text
	l.ruleset.table, l.ruleset.hosts, l.ruleset.held = table, hosts, held
	if changed || !l.ruleset.inForce {
		l.ruleset.applied++
	}
	l.ruleset.inForce = true
	if hash := volume.Hash(r.text); l.state.Ruleset != hash {
		l.state.Ruleset, l.state.RulesetSince = hash, l.Now()
		if l.begun.hash == hash { // an earlier agent's is in force still
			l.state.RulesetSince = l.begun.since
		}
		l.begun = begun{}
		l.Log.Info("ruleset in force", "hash", hash, "held", held)
	}
	return nil
}

// begun is what an earlier agent had put in force.
type begun struct {
	hash  string
	since time.Time
}

// hosts are what the host exposures lead to.
func (l *DataplaneLoop) hosts() []firewall.Host {
	var all []firewall.Host
	for _, h := range l.files.expect.Hosts {
		all = append(all, firewall.Host{Map: h.Map, VirtualIP: h.VirtualIP, Target: l.names.address(h.Host)})
	}
	return all
}

// cut ends withdrawn connections after every change, and once more a little later: a
// packet that passed the old ruleset on another processor shows up late.
func (l *DataplaneLoop) cut() {
	if !l.ruleset.inForce {
		return
	}
	t := &l.tasks.cut
	later := t.tried && t.input == l.ruleset.applied
	ran := l.attempt(t, l.ruleset.applied, func() []string {
		cut, err := l.Firewall.Cut(l.ruleset.table, l.ruleset.hosts)
		if l.state.FlowsCut += uint64(cut); cut > 0 {
			l.dirty = true
			l.Log.Info("connections ended whose grant went away", "count", cut)
		}
		return texts(err)
	})
	switch {
	case !ran || !t.well():
	case later:
		t.due = t.due.Add(365 * 24 * time.Hour) // until the next change
	default:
		t.due = l.Now().Add(l.Recut)
	}
}
