package agent

import (
	"context"
	"time"

	"github.com/vpnctl/vpnctl/agent/vici"
	"github.com/vpnctl/vpnctl/agent/volume"
)

// ipsec does a tick's work with charon, and returns what is to be seen of the peers.
// Where charon doesn't answer that is nothing: unknown isn't down.
func (l *StatusLoop) ipsec(ctx context.Context, d *volume.Dataplane) ([]peerView, time.Duration) {
	l.collect()
	ruleset := d != nil && d.Ruleset != ""
	more, sas, err := l.drive(ctx, ruleset)
	if err != nil {
		if ctx.Err() != nil {
			return nil, l.Tick
		}
		after := l.lost(err)
		return l.unknown(), after
	}
	l.sas = sas
	after := l.Tick
	if more {
		after = 0
	}
	return l.observe(sas, ruleset), after
}

// drive makes charon what it should be, step by step; whatever ends the session ends
// the tick.
func (l *StatusLoop) drive(ctx context.Context, ruleset bool) (more bool, sas []vici.SA, err error) {
	if err := l.connect(ctx); err != nil {
		return false, nil, err
	}
	l.harken()
	if more, err = l.push(ctx, ruleset); err != nil {
		return false, nil, err
	}
	if sas, err = l.charon.session.SAs(ctx); err != nil {
		return false, nil, err
	}
	l.alive()
	l.charon.pause = 0
	left, err := l.settle(ctx, sas)
	if err != nil {
		return false, nil, err
	}
	l.remember()
	by := group(sas)
	for name := range l.want.peers {
		l.memory.of(name).look(by[name])
	}
	return more, left, l.watch(ctx, left)
}

// harken makes the listener listen, if it doesn't.
func (l *StatusLoop) harken() {
	select {
	case l.hark <- struct{}{}:
	default:
	}
}

// watch carries the watchdog's orders out.
func (l *StatusLoop) watch(ctx context.Context, sas []vici.SA) error {
	orders := l.Watchdog.Look(l.Now(), l.reachable(), sas)
	for _, sa := range orders.GiveUp {
		l.failures[sa.Connection] = vici.NoAnswer
		if err := l.end(ctx, sa); err != nil {
			return err
		}
	}
	for _, sa := range orders.Double {
		l.Log.Info("one of two equal IKE SAs ended", "peer", sa.Connection, "sa", sa.ID)
		if err := l.end(ctx, sa); err != nil {
			return err
		}
	}
	for _, t := range orders.Initiate {
		l.counts.initiates++
		err := l.charon.session.Initiate(ctx, t.Connection, t.Child)
		l.alive()
		if fatal(ctx, err) {
			return err
		}
		if err != nil {
			l.failures[t.Connection] = err.Error()
		}
	}
	return nil
}

func (l *StatusLoop) end(ctx context.Context, sa vici.SA) error {
	err := l.charon.session.TerminateSA(ctx, sa.ID)
	l.alive()
	if fatal(ctx, err) {
		return err
	}
	return nil
}

// reachable are the expected tunnels that charon could bring up: it has the connection
// as it should be, and the key.
func (l *StatusLoop) reachable() []Tunnel {
	var all []Tunnel
	for _, p := range l.want.expect.Peers {
		loaded, there := l.charon.loaded[p.Name]
		if !there || !l.charon.ids[l.want.keyID(p.Name)] {
			continue
		}
		for _, name := range p.Children {
			if _, there := child(loaded.Children, name); there {
				all = append(all, Tunnel{p.Name, name})
			}
		}
	}
	return all
}
