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
	sas, after, err := l.drive(ctx, ruleset)
	if err != nil {
		if ctx.Err() != nil {
			return nil, l.Tick
		}
		after := l.lost(err)
		return l.unknown(), after
	}
	l.sas = sas
	return l.observe(sas, ruleset), after
}

// drive makes charon what it should be, step by step; whatever ends the session ends
// the tick. It returns the SAs that are left, and when the next tick should be: one that
// had to stop loading is followed at once, one that had to stop initiating after Gap.
func (l *StatusLoop) drive(ctx context.Context, ruleset bool) ([]vici.SA, time.Duration, error) {
	if err := l.connect(ctx); err != nil {
		return nil, 0, err
	}
	l.harken()
	loading, err := l.push(ctx, ruleset)
	if err != nil {
		return nil, 0, err
	}
	sas, err := l.charon.session.SAs(ctx)
	if err != nil {
		return nil, 0, err
	}
	l.alive()
	l.charon.pause, l.linger = 0, lingering(l.want.expect, sas)
	left, err := l.settle(ctx, sas)
	if err != nil {
		return nil, 0, err
	}
	l.remember()
	by := group(sas)
	for name := range l.want.peers {
		l.memory.of(name).look(by[name])
	}
	initiating, err := l.watch(ctx, left)
	switch {
	case loading:
		return left, 0, err
	case initiating, len(l.linger) > 0:
		return left, l.Gap, err
	}
	return left, l.Tick, err
}

// harken makes the listener listen, if it doesn't.
func (l *StatusLoop) harken() {
	select {
	case l.hark <- struct{}{}:
	default:
	}
}

// watch carries the watchdog's orders out, and reports whether it has more of them.
func (l *StatusLoop) watch(ctx context.Context, sas []vici.SA) (more bool, err error) {
	orders := l.Watchdog.Look(l.Now(), l.reachable(), sas)
	for _, sa := range orders.GiveUp {
		l.failures[sa.Connection] = vici.NoAnswer
		if err := l.end(ctx, sa); err != nil {
			return false, err
		}
	}
	for _, sa := range orders.Double {
		l.Log.Info("one of two equal IKE SAs ended", "peer", sa.Connection, "sa", sa.ID)
		if err := l.end(ctx, sa); err != nil {
			return false, err
		}
	}
	for _, t := range orders.Initiate {
		l.counts.initiates++
		err := l.charon.session.Initiate(ctx, t.Connection, t.Child)
		l.alive()
		if fatal(ctx, err) {
			return false, err
		}
		if err != nil {
			l.failures[t.Connection] = err.Error()
		}
	}
	return orders.More, nil
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
