package main

import (
	"context"
	"fmt"
	"time"

	"github.com/vpnctl/vpnctl/plan/roster"
	"github.com/vpnctl/vpnctl/plan/view"
)

// vigil is a wait.
type vigil struct {
	command waitCommand
	at      lookout
	goal    roster.Goal
	began   time.Time
	waited  []view.Waited
	verdict map[string]roster.Verdict // by name
	stuck   map[string]time.Time      // since when only an edit helps
	away    string                    // why the cluster is; empty: it answers
}

// look judges what was seen; while the cluster is away, what was seen before.
func (v *vigil) look(c roster.Cluster, now time.Time) {
	v.verdict = map[string]roster.Verdict{}
	v.waited = nil
	if len(v.at.names) == 0 {
		for _, g := range c.Gateways {
			v.judge(roster.Name{Namespace: g.Owner.Namespace, Name: g.Owner.Name}, c, now)
		}
		for _, u := range c.Broken {
			if u.IsGateway() {
				v.judge(roster.Name{Namespace: u.Namespace, Name: u.Name}, c, now)
			}
		}
	}
	for _, n := range v.at.names {
		v.judge(n, c, now)
	}
	if v.away != "" {
		v.stuck = nil // nobody could look meanwhile
		return
	}
	for name, x := range v.verdict {
		if _, before := v.stuck[name]; x.Stuck && before {
			continue
		}
		delete(v.stuck, name)
		if x.Stuck {
			if v.stuck == nil {
				v.stuck = map[string]time.Time{}
			}
			v.stuck[name] = now
		}
	}
}

// judge notes the verdict on what one name stands for: both kinds of gateway, where two
// have one name.
func (v *vigil) judge(n roster.Name, c roster.Cluster, now time.Time) {
	if _, twice := v.verdict[n.String()]; twice {
		return
	}
	sum := roster.Verdict{Met: v.goal == roster.GoalDeleted, Text: "is not in the cluster yet"}
	if sum.Met {
		sum.Text = "is gone"
	}
	if c.Astray(n) {
		sum = roster.Verdict{Text: "has no gateway: " + n.Namespace + "/" + n.Name + " is not in the cluster"}
	}
	first := true
	for _, g := range c.Gateways {
		if !n.Is(g) {
			continue
		}
		if one := g.Await(v.goal, n.Peer, now); first || sum.Met && !one.Met || one.Stuck {
			sum, first = one, false
		}
	}
	for _, l := range c.Links {
		if n.IsLink() && n.Name == l.Name {
			sum = l.Await(v.goal)
		}
	}
	for _, u := range c.Broken {
		if u.Keeps(n) && (u.IsGateway() || n.IsLink() || v.goal != roster.GoalDeleted) && !sum.Stuck {
			sum = roster.Verdict{Stuck: v.goal != roster.GoalDeleted, Text: u.String()}
		}
	}
	v.verdict[n.String()] = sum
	v.waited = append(v.waited, view.Waited{Name: n.String(), Met: sum.Met, Text: sum.Text})
}

// over tells whether there is nothing left to wait for.
func (v *vigil) over() bool {
	for _, x := range v.waited {
		if !x.Met {
			return false
		}
	}
	return len(v.waited) > 0
}

// hopeless tells whether something has needed an edit for long enough.
func (v *vigil) hopeless(now time.Time) bool {
	for _, since := range v.stuck {
		if now.Sub(since) >= settled && !v.command.KeepWaiting {
			return true
		}
	}
	return false
}

// follow looks whenever something changes, until there is nothing left to wait for.
func (v *vigil) follow(g *Globals, s *streams, stop *interrupts) error {
	ctx, cancel := context.WithCancel(stop.ctx)
	sights := v.at.driver.Follow(ctx, v.at.which)
	defer func() {
		cancel()
		for range sights { // until those who read have ended
		}
	}()
	show := view.NewWaiting(s.stderr, view.ProgressOptions{
		Live: terminal(s.stderr) && g.Verbose == 0, Color: g.color(s.stderr), Width: width(s.stderr),
	})
	defer show.Close()
	show.Set(v.waited, "")
	late := time.NewTimer(time.Until(v.began.Add(v.command.Timeout)))
	defer late.Stop()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	var cluster roster.Cluster
	seen, looked := false, time.Time{}
	for {
		select {
		case <-late.C:
			return nil
		case sight, open := <-sights:
			if !open {
				return context.Cause(stop.ctx)
			}
			cluster, seen, v.away = sight.Cluster, true, ""
			if sight.Away.Err != nil {
				v.away = view.Away(sight.Away)
			}
		case <-tick.C:
			show.Tick()
			if time.Since(looked) < time.Second {
				continue
			}
		}
		if !seen {
			continue
		}
		looked = time.Now()
		v.look(cluster, looked)
		show.Set(v.waited, v.away)
		if v.away == "" && (v.over() || v.hopeless(time.Now())) {
			return nil
		}
	}
}

// result prints how it ended.
func (v *vigil) result(s *streams) error {
	met := 0
	for _, x := range v.waited {
		sign := "✓ "
		switch {
		case x.Met:
			met++
		case v.verdict[x.Name].Stuck:
			sign = "✗ "
		default:
			sign = "= "
		}
		if _, err := fmt.Fprintln(s.stdout, sign+view.Plain(x.Name)+"  "+view.Plain(x.Text)); err != nil {
			return err
		}
	}
	total := len(v.waited)
	switch {
	case met == total:
		return nil
	case v.hopeless(time.Now()):
		return exit{code: exitStuck, message: fmt.Sprintf("%d of %d %s, and only an edit of a manifest helps", met, total, v.command.For)}
	}
	late := fmt.Sprintf("%d of %d %s after %s", met, total, v.command.For, v.command.Timeout)
	if v.away != "" {
		late += "; " + v.away
	}
	return exit{code: exitTimedOut, message: late}
}
