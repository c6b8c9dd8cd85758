package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/vpnctl/vpnctl/agent/report"
	"github.com/vpnctl/vpnctl/agent/vici"
	"github.com/vpnctl/vpnctl/agent/volume"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// snapshot is what metrics and probes show until the next tick. Nobody changes one.
type snapshot struct {
	at        time.Time
	gateway   vpn.Owner // zero: no configuration could be read yet
	ipsec     bool
	answers   bool // the data plane: charon answers, or dataplane.json is fresh
	peers     []peerView
	seen      map[series]sighting
	sas       []vici.SA
	dataplane *volume.Dataplane
	age       time.Duration // of that, at the tick
	problems  []volume.Problem
	hash      string
	inForce   time.Time
	counts    counts
	secrets   uint64 // calls for Secrets that failed
}

// series names a tunnel among the metrics.
type series struct{ peer, tunnel string }

// sighting is what was known of a tunnel last.
type sighting struct {
	up bool
	at time.Time
}

type problemKey struct{ part, text string }

// publish tells everybody what was seen.
func (l *StatusLoop) publish(ctx context.Context, peers []peerView, d *volume.Dataplane) {
	s := &snapshot{at: l.Now(), peers: peers, dataplane: d, age: l.age, counts: l.counts, secrets: l.vault.mistakes()}
	if l.want == nil {
		s.problems = l.problems(nil, d)
		l.shown.Store(s)
		return
	}
	s.gateway, s.ipsec, s.hash, s.inForce = l.want.expect.Gateway, l.want.ipsec(), l.want.hash, l.want.inForce
	s.answers = !s.ipsec && d != nil && l.age <= l.Stale
	if l.charon.session != nil {
		s.answers, s.sas = true, l.sas
	}
	l.sight(peers)
	l.logSecrets()
	s.seen = maps.Clone(l.seen)
	l.memory.only(l.want.peers)
	r := l.report(peers, d)
	err := l.Sink.Report(ctx, r)
	l.say("status", errText(err))
	s.problems = l.problems(err, d)
	l.shown.Store(s)
	l.write(Status{
		Written: s.at, Report: r, Charon: l.charonVersion(), Config: s.hash, InForce: s.inForce,
		Lingering: l.linger,
		Problems:  s.problems, Memory: l.memory.Peers,
	})
}

// sight notes which tunnels are up, logs where that has changed, and forgets those that
// nobody expects any more.
func (l *StatusLoop) sight(peers []peerView) {
	expected := map[series]bool{}
	for _, p := range peers {
		l.logPeer(p)
		for _, t := range p.tunnels {
			key := series{p.Name, t.name}
			expected[key] = true
			if t.known {
				l.seen[key] = sighting{t.up, l.Now()}
			}
		}
	}
	maps.DeleteFunc(l.seen, func(key series, _ sighting) bool { return !expected[key] })
	maps.DeleteFunc(l.told, func(name string, _ *told) bool { _, there := l.want.peers[name]; return !there })
}

func (l *StatusLoop) report(peers []peerView, d *volume.Dataplane) report.Report {
	r := report.Report{Gateway: l.want.expect.Gateway, Time: l.Now(), Peers: make([]report.Peer, 0, len(peers))}
	if d != nil && d.WireGuard != nil {
		r.PublicKey = d.WireGuard.PublicKey
	}
	for _, p := range peers {
		r.Peers = append(r.Peers, p.Peer)
	}
	return r
}

func (l *StatusLoop) charonVersion() string {
	if l.charon.session == nil {
		return ""
	}
	return l.charon.version
}

// volumeFiles are the subjects of the log that are files in the memory volume.
var volumeFiles = []string{"status.json", "keys.json", negotiatedFile, secretsFile, "dataplane.json"}

func (l *StatusLoop) write(s Status) {
	data, err := json.Marshal(s)
	if err == nil {
		err = l.Volume.WriteStatus(data)
	}
	l.say("status.json", errText(err))
}

// problems are what this half finds wrong, each with the time since when it does.
func (l *StatusLoop) problems(sink error, d *volume.Dataplane) []volume.Problem {
	var all []volume.Problem
	now, before := l.Now(), l.since
	l.since = map[problemKey]time.Time{}
	add := func(part, text string) {
		key := problemKey{part, text}
		if _, twice := l.since[key]; twice || text == "" {
			return
		}
		l.since[key] = now
		if since, there := before[key]; there {
			l.since[key] = since
		}
		all = append(all, volume.Problem{Part: part, Text: text, Since: l.since[key]})
	}
	add(PartConfig, l.broken)
	add(PartStatus, errText(sink))
	for _, file := range volumeFiles {
		add(PartVolume, l.said[file])
	}
	if d != nil && l.age > l.Stale {
		add(PartDataplane, "the dataplane half has published nothing lately: it can't write dataplane.json, or it stands still")
	}
	if l.want != nil {
		for _, ref := range l.want.secrets {
			add(volume.PartKeys, l.keyProblem(ref))
		}
		if l.want.ipsec() && l.charon.session == nil {
			add(PartCharon, noCharon)
		}
	}
	for _, subject := range sortedKeys(l.charon.refused) {
		add(PartCharon, l.charon.refused[subject].why)
	}
	slices.SortFunc(all, func(a, b volume.Problem) int {
		return cmp.Or(cmp.Compare(a.Part, b.Part), cmp.Compare(a.Text, b.Text))
	})
	return all
}
