package agent

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vpnctl/vpnctl/agent/resolve"
	"github.com/vpnctl/vpnctl/agent/volume"
	"github.com/vpnctl/vpnctl/agent/wireguard"
)

// DataplaneLoop is the half of the agent that may change the pod's network. It keeps
// these equal to the mounted files, in this order, each on its own:
//
//	sysctls            as the network attachment should have set them
//	NIC, routing       the interface with the port's MAC address, tables 100 and 220
//	ruleset            less what the gateway's file doesn't grant (see agreed), with
//	                   what host names resolve to
//	connections        those that the ruleset doesn't grant any more are ended
//	WireGuard, routes  once a ruleset is in force
//
// What fails is a problem in dataplane.json, is tried again at growing intervals, and
// keeps nothing else from being done. A file that can't be read or put in force leaves
// the one before in force.
//
// When it ends, by a signal or by force, the kernel's state stays, and the next one
// goes on with it: the ruleset is replaced at once by an equal one, counters go on. A
// WireGuard device in user space lives in this process and ends with it.
type DataplaneLoop struct {
	Config volume.Mount  // the gateway's ConfigMap
	Rules  volume.Mount  // the ruleset's ConfigMap
	Volume volume.Volume // shared with the status half
	Log    *slog.Logger

	Network  Network
	Firewall Firewall
	Open     func(name, dataplane string) (Device, error) // the WireGuard device
	Lookup   resolve.Resolver

	Poll     time.Duration // between two looks at the mounted files
	Look     time.Duration // between two looks for the NIC, the keys, and another hand on the ruleset
	Upkeep   time.Duration // between two looks at what should be right already
	Read     time.Duration // between two readings of the WireGuard device
	Recut    time.Duration // after which withdrawn connections are looked for once more
	Call     time.Duration // the longest that one nft may take
	RetryMin time.Duration // after the first failure
	RetryMax time.Duration // after many
	Stuck    time.Duration // age of the last sign of life at which /healthz fails
	Now      func() time.Time
	Place    string // the network namespace, see volume.Network; empty: not known

	pulse pulse
	shown atomic.Pointer[readiness]
	wake  chan struct{} // a name has another address

	files  accepted // the last good ones
	mounts [2]mounted
	names  *names
	keys   volume.Keys
	nic    string // empty: it isn't there
	looked time.Time
	at     versions

	tasks     tasks
	ruleset   ruleset
	begun     begun
	tunnel    tunnel
	selectors selectors

	state      volume.Dataplane // as published last, or by an earlier agent
	dirty      bool             // something was done since
	since      map[problemKey]time.Time
	unwritten  string // why dataplane.json can't be written
	forgotten  string // why accepted.json can't be
	remembered []byte // accepted.json as it was written; nil: it was not
}

// versions count what the tasks depend on, so that a pass which finds nothing new
// compares numbers.
type versions struct{ files, keys, owners, names, doubts, device int }

// tasks are what is tried on its own, each with its problems.
type tasks struct{ nic, sysctls, routing, guard, ruleset, cut, open, peers, routes, read task }

func (t *tasks) all() []*task {
	return []*task{&t.nic, &t.sysctls, &t.routing, &t.guard, &t.ruleset, &t.cut, &t.open, &t.peers, &t.routes, &t.read}
}

// NewDataplaneLoop returns a loop with the usual times, over the folders that the pod
// mounts and the network namespace that it runs in.
func NewDataplaneLoop(config, rules, run string) *DataplaneLoop {
	return &DataplaneLoop{
		Config: volume.Mount{Dir: config}, Rules: volume.Mount{Dir: rules}, Volume: volume.Volume{Dir: run}, Log: slog.Default(),
		Network: kernelNetwork{}, Firewall: &kernelFirewall{},
		Open: func(name, dataplane string) (Device, error) { return wireguard.Open(name, dataplane) },
		Poll: 200 * time.Millisecond, Look: time.Second, Upkeep: 10 * time.Second, Read: 5 * time.Second,
		Recut: 2 * time.Second, Call: 20 * time.Second, RetryMin: time.Second, RetryMax: 30 * time.Second,
		Stuck: time.Minute, Now: time.Now, Place: volume.Network(),
	}
}

// Run works until ctx ends. Errors are no reason to end.
func (l *DataplaneLoop) Run(ctx context.Context) error {
	l.prepare()
	ctx, cancel := context.WithCancel(ctx)
	var side sync.WaitGroup
	defer side.Wait()
	defer cancel()
	side.Go(func() { l.names.run(ctx) })
	poll := time.NewTicker(l.Poll)
	defer poll.Stop()
	for ctx.Err() == nil {
		l.pass(ctx)
		select {
		case <-ctx.Done():
		case <-l.wake:
		case <-poll.C:
		}
	}
	return l.close()
}

// prepare makes what Run, Handler and the tests need, and goes on from what an earlier
// agent left in the volume.
func (l *DataplaneLoop) prepare() {
	if l.names != nil {
		return
	}
	l.wake = make(chan struct{}, 1)
	l.names = newNames(l.Lookup, l.Now, l.rouse)
	l.mounts = [2]mounted{
		{mount: l.Config, take: l.takeConfig, part: PartConfig},
		{mount: l.Rules, take: l.takeRules, part: volume.PartRuleset},
	}
	l.tasks = tasks{
		nic: task{part: volume.PartNIC}, sysctls: task{part: volume.PartSysctl}, routing: task{part: volume.PartRouting},
		guard: task{part: volume.PartRuleset}, ruleset: task{part: volume.PartRuleset}, cut: task{part: volume.PartRuleset},
		open: task{part: volume.PartWireGuard}, peers: task{part: volume.PartWireGuard},
		routes: task{part: volume.PartRouting}, read: task{part: volume.PartWireGuard},
	}
	l.since = map[problemKey]time.Time{}
	l.recall()
	l.write()
	l.alive()
}

// rouse asks for a pass soon.
func (l *DataplaneLoop) rouse() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// pass looks at everything once, and does what is due.
func (l *DataplaneLoop) pass(ctx context.Context) {
	l.alive()
	defer l.alive()
	for i := range l.mounts {
		l.follow(&l.mounts[i])
	}
	if moves, turns := l.names.news(); moves != l.at.names || turns != l.at.doubts {
		l.at.names, l.at.doubts, l.dirty = moves, turns, true
	}
	l.look()
	l.route()
	// The device comes up without peers, or is taken over as it is, because what it
	// has counts for the ruleset.
	l.openDevice()
	l.filter(ctx)
	l.setPeers()
	// A source that has moved from one peer to another waited for the device.
	l.filter(ctx)
	l.readDevice()
	if ctx.Err() == nil {
		l.publish()
	}
}

// alive notes a sign of life of the loop.
func (l *DataplaneLoop) alive() { l.pulse.beat(l.Now()) }

// close lets go of the WireGuard device.
func (l *DataplaneLoop) close() error {
	if l.tunnel.device == nil {
		return nil
	}
	if l.tunnel.device.Userspace() {
		l.Log.Warn("the WireGuard device ends with this process: its sessions begin anew with the next one")
	}
	return l.tunnel.device.Close()
}
