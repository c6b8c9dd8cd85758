package agent

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"github.com/vpnctl/vpnctl/agent/volume"
)

// readiness is what /readyz goes by.
type readiness struct {
	known, nic, routing, ruleset bool
	wireguard, device            bool // the protocol, and whether its device is up
}

// publish writes dataplane.json if something was done, and often enough to show that
// the loop is at work.
func (l *DataplaneLoop) publish() {
	now := l.Now()
	every := l.Upkeep
	if l.files.wireguard() {
		every = l.Read
	}
	if !l.dirty && now.Before(l.state.Written.Add(every)) && !now.Before(l.state.Written) {
		return
	}
	l.dirty = false
	l.state.Written, l.state.Network, l.state.Interface = now, l.Place, l.nic
	l.state.WireGuard, l.state.Hosts, l.state.Problems = l.publishedDevice(), l.publishedHosts(), l.problems(now)
	l.shown.Store(&readiness{
		known: l.files.known, nic: l.nic != "", routing: l.tasks.routing.well(), ruleset: l.ruleset.inForce,
		wireguard: l.files.wireguard(), device: l.tunnel.device != nil,
	})
	l.write()
	l.remember()
}

// write tells the status half. Without a ruleset that this process has put in force,
// it hears of none.
func (l *DataplaneLoop) write() {
	text := errText(l.Volume.WriteDataplane(l.state))
	if text != l.unwritten && text != "" {
		l.Log.Error("the status half hears nothing", "error", text)
	}
	l.unwritten = text
}

// unsaid says so of what couldn't be written into the volume; the status half finds
// out by itself that dataplane.json grows old.
func (l *DataplaneLoop) unsaid(add func(part, text string)) {
	add(PartVolume, l.unwritten)
	add(PartVolume, l.forgotten)
}

// remember writes accepted.json, if it is another than before.
func (l *DataplaneLoop) remember() {
	l.files.texts.Names, l.files.texts.Network = l.names.addresses(), l.Place
	data, err := json.Marshal(l.files.texts)
	if err != nil || bytes.Equal(data, l.remembered) {
		return
	}
	if l.forgotten = errText(volume.Replace(l.acceptedPath(), data, 0o644)); l.forgotten != "" {
		if l.remembered != nil {
			l.Log.Error("the next start will not know what is in force", "error", l.forgotten)
		}
		l.remembered = nil
		return
	}
	l.remembered = data
}

func (l *DataplaneLoop) publishedHosts() []volume.Host {
	var all []volume.Host
	for _, h := range l.files.expect.Hosts {
		n := l.names.get(h.Host)
		all = append(all, volume.Host{Exposure: h.Exposure, Name: h.Host, Address: n.Address, Problem: n.Problem, Checked: n.Checked})
	}
	return all
}

// problems are what is wrong now, each with the time since when it is. What has come
// and gone is logged.
func (l *DataplaneLoop) problems(now time.Time) []volume.Problem {
	before := l.since
	l.since = map[problemKey]time.Time{}
	var all []volume.Problem
	add := func(part, text string) {
		key := subject(part, text)
		if _, twice := l.since[key]; twice || text == "" {
			return
		}
		since, there := before[key]
		if !there {
			since = now
			l.Log.Warn(part + ": " + text)
		}
		l.since[key] = since
		all = append(all, volume.Problem{Part: part, Text: text, Since: since})
	}
	for _, m := range l.mounts {
		add(m.part, m.problem)
	}
	for _, t := range l.tasks.all() {
		for _, text := range t.problems {
			add(t.part, text)
		}
	}
	l.unsaid(add)
	add(volume.PartRuleset, l.ruleset.withheld())
	add(volume.PartKeys, l.tunnel.keysProblem)
	for host, text := range l.names.problems() {
		add(volume.PartDNS, host+": "+strings.TrimPrefix(text, "looking up "+host+": "))
	}
	for key := range before {
		if _, still := l.since[key]; !still {
			l.Log.Info(key.part+": well again", "was", key.text)
		}
	}
	return all
}

// subject is what a problem is known by: its text, and of a name that, because why it
// can't be resolved is put in other words each time.
func subject(part, text string) problemKey {
	if part == volume.PartDNS {
		text, _, _ = strings.Cut(text, ":")
	}
	return problemKey{part, text}
}
