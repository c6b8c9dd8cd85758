package agent

import (
	"context"
	"slices"

	"github.com/vpnctl/vpnctl/agent/vici"
	"github.com/vpnctl/vpnctl/render/swanctl"
)

// unnamed is what charon calls an SA of which it doesn't know the peer yet: someone's
// first message has just come in.
const unnamed = "(unnamed)"

// settle ends the SAs that are not as they should be: those of connections that the
// file doesn't name, and those that were negotiated with settings which may not wait.
// It returns the SAs that are left.
func (l *StatusLoop) settle(ctx context.Context, sas []vici.SA) ([]vici.SA, error) {
	by := group(sas)
	l.memory.forget(func(name string) bool { return l.wants(name) || len(by[name]) > 0 })
	by, err := l.endForeign(ctx, by)
	if err != nil {
		return nil, err
	}
	for _, name := range sortedKeys(l.charon.loaded) {
		if by[name], err = l.settleOne(ctx, name, by[name]); err != nil {
			return nil, err
		}
	}
	left := make([]vici.SA, 0, len(sas))
	for _, sa := range sas {
		i := slices.IndexFunc(by[sa.Connection], func(kept vici.SA) bool { return kept.ID == sa.ID })
		if i >= 0 {
			left = append(left, by[sa.Connection][i])
		}
	}
	return left, nil
}

func (l *StatusLoop) wants(connection string) bool {
	_, wanted := l.want.connections[connection]
	return wanted
}

func group(sas []vici.SA) map[string][]vici.SA {
	by := map[string][]vici.SA{}
	for _, sa := range sas {
		by[sa.Connection] = append(by[sa.Connection], sa)
	}
	return by
}

func (l *StatusLoop) endForeign(ctx context.Context, by map[string][]vici.SA) (map[string][]vici.SA, error) {
	for _, name := range sortedKeys(by) {
		if l.wants(name) || name == unnamed {
			continue
		}
		if slices.ContainsFunc(by[name], func(sa vici.SA) bool { return !leaving(sa.State) }) {
			n, err := l.charon.session.TerminateConnection(ctx, name)
			if tried := l.try(ctx, connectionSubject(name), "end", err); tried != nil {
				return nil, tried
			}
			if err == nil {
				l.Log.Info("tunnel of a removed peer ended", "peer", name, "sas", n)
			}
		}
		delete(by, name)
	}
	return by, nil
}

// settleOne compares what a connection's SAs were negotiated with and what is loaded,
// and does what the table says (see change). An SA of which it isn't known when it came
// up counts as negotiated with the older of the two.
func (l *StatusLoop) settleOne(ctx context.Context, name string, sas []vici.SA) ([]vici.SA, error) {
	loaded, record := l.charon.loaded[name], l.memory.of(name)
	staying := slices.DeleteFunc(slices.Clone(sas), func(sa vici.SA) bool { return leaving(sa.State) })
	if len(staying) == 0 {
		l.memory.negotiated[name], record.Key = loaded, false
		return sas, nil
	}
	if !record.continues(staying) {
		record.Key = false
		if before, changed := l.charon.before[name]; changed {
			l.memory.negotiated[name] = before
		} else {
			l.memory.negotiated[name] = loaded
		}
	}
	switch what, children := change(l.memory.negotiated[name], loaded); what {
	case endAll:
		return l.endAll(ctx, name, loaded)
	case endChildren:
		return l.endChildren(ctx, name, children, sas)
	case stays, waits:
	}
	return sas, nil
}

func (l *StatusLoop) endAll(ctx context.Context, name string, loaded swanctl.Connection) ([]vici.SA, error) {
	_, err := l.charon.session.TerminateConnection(ctx, name)
	if tried := l.try(ctx, connectionSubject(name), "end", err); tried != nil || err != nil {
		return nil, tried
	}
	l.Log.Info("tunnel ended, so that its new settings come into force", "peer", name)
	l.memory.negotiated[name], l.memory.of(name).Key = loaded, false
	for _, c := range loaded.Children {
		l.Watchdog.Hurry(Tunnel{name, c.Name})
	}
	return nil, nil
}

// endChildren ends the children concerned. The others go on, with the timers that they
// were negotiated with.
func (l *StatusLoop) endChildren(ctx context.Context, name string, children []string, sas []vici.SA) ([]vici.SA, error) {
	for _, c := range children {
		if !listed(sas, c) {
			continue
		}
		_, err := l.charon.session.TerminateChild(ctx, name, c)
		if tried := l.try(ctx, connectionSubject(name), "end "+c, err); tried != nil || err != nil {
			return sas, tried
		}
		l.Log.Info("child ended, so that its new settings come into force", "peer", name, "child", c)
	}
	was, now := l.memory.negotiated[name], l.charon.loaded[name]
	now.Children = slices.Clone(now.Children)
	for i, c := range now.Children {
		if slices.Contains(children, c.Name) {
			l.Watchdog.Hurry(Tunnel{name, c.Name})
		} else if old, there := child(was.Children, c.Name); there {
			now.Children[i] = old
		}
	}
	l.memory.negotiated[name] = now
	return without(sas, children), nil
}

func listed(sas []vici.SA, child string) bool {
	return slices.ContainsFunc(sas, func(sa vici.SA) bool {
		return slices.ContainsFunc(sa.Children, func(c vici.ChildSA) bool { return c.Name == child })
	})
}

// without leaves children out.
func without(sas []vici.SA, children []string) []vici.SA {
	left := slices.Clone(sas)
	for i := range left {
		left[i].Children = slices.DeleteFunc(slices.Clone(left[i].Children), func(c vici.ChildSA) bool {
			return slices.Contains(children, c.Name)
		})
	}
	return left
}
