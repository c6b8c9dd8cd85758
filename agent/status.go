package agent

import (
	"context"
	"log/slog"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vpnctl/vpnctl/agent/report"
	"github.com/vpnctl/vpnctl/agent/vici"
	"github.com/vpnctl/vpnctl/agent/volume"
	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/render/swanctl"
)

// StatusLoop is the half of the agent that has the API token and no capability. It
// hands keys over (to charon, or to the dataplane half), keeps charon's connections
// equal to the mounted file, initiates tunnels that are down, and reports what is up:
// to the gateway's status, as metrics, and as status.json in the memory volume.
//
// Each tick looks at everything anew and does what is missing, so that whatever was
// cut off half-way (a call, this process, charon) is made up for by the next one. A
// tick that finds all as it should be asks charon for its SAs and for nothing else.
//
// When it ends, nothing is taken back: tunnels go on, and the next one takes over what
// it finds.
type StatusLoop struct {
	Config  volume.Mount  // the gateway's ConfigMap
	Volume  volume.Volume // shared with the dataplane half
	Socket  string        // charon's
	Secrets report.Source
	Sink    report.Sink // one that has a Run method is run as long as the loop
	Version string      // of this program, for the metrics
	Place   string      // the network namespace, see volume.Network; empty: not known
	Log     *slog.Logger

	Poll    time.Duration // between two looks at the mounted files
	Tick    time.Duration // between two looks at everything
	Gap     time.Duration // at least, between a tick and the next one that an event calls for
	Refresh time.Duration // between two looks at one Secret
	Call    time.Duration // the longest that charon may take for one answer
	Push    time.Duration // how long one tick loads keys and connections before it looks at the SAs
	Stale   time.Duration // age at which dataplane.json says nothing any more
	Keep    time.Duration // how long a metric keeps its last value while its tunnel is unknown
	Stuck   time.Duration // age of the last sign of life at which /healthz fails
	Now     func() time.Time

	Watchdog *Watchdog

	vault *vault
	inbox *inbox
	wake  chan struct{} // a tick is asked for
	hark  chan struct{} // charon is there to be listened to
	pulse pulse
	shown atomic.Pointer[snapshot]

	want     *wanted // the last good configuration; nil: there was none yet
	noticed  string  // generation that was looked at last
	tried    string  // generation that could be read last, good or bad
	broken   string  // what is wrong with the mounted files
	charon   charon
	sas      []vici.SA         // as charon listed them last
	failures map[string]string // by connection: why it isn't up
	seen     map[series]sighting
	told     map[string]*told // by peer: what the log says of it
	memory   memory
	counts   counts
	said     map[string]string      // by subject: what the log says of it at present
	lacking  map[vpn.SecretRef]bool // keys of which the log says that they are missing
	stamps   stamps                 // of dataplane.json, and of handshakes
	age      time.Duration          // of dataplane.json
	linger   []netip.Prefix         // see Status.Lingering
	kept     []byte                 // secrets.json as it was written
	since    map[problemKey]time.Time
}

// NewStatusLoop returns a loop with the usual times, over the folders that the pod
// mounts.
func NewStatusLoop(config, run string, secrets report.Source, sink report.Sink) *StatusLoop {
	return &StatusLoop{
		Config: volume.Mount{Dir: config}, Volume: volume.Volume{Dir: run}, Socket: swanctl.Socket,
		Secrets: secrets, Sink: sink, Log: slog.Default(), Place: volume.Network(),
		Poll: 200 * time.Millisecond, Tick: 5 * time.Second, Gap: time.Second, Refresh: 30 * time.Second,
		Call: 5 * time.Second, Push: time.Second, Stale: 30 * time.Second, Keep: time.Minute, Stuck: time.Minute,
		Now: time.Now, Watchdog: NewWatchdog(),
	}
}

// counts only ever grow, from the start of this process on.
type counts struct{ initiates, reconnects, refusals, configErrors uint64 }

// Run works until ctx ends. Errors are no reason to end: they are reported, and the
// next tick tries again.
func (l *StatusLoop) Run(ctx context.Context) error {
	l.prepare()
	ctx, cancel := context.WithCancel(ctx)
	var side sync.WaitGroup
	defer side.Wait()
	defer cancel()
	side.Go(func() { l.vault.run(ctx) })
	side.Go(func() { l.listen(ctx) })
	if sink, ok := l.Sink.(interface{ Run(context.Context) }); ok {
		side.Go(func() { sink.Run(ctx) })
	}
	l.loop(ctx)
	l.charon.hangUp()
	return nil
}

// prepare makes what Run and Handler need, at the first call of either.
func (l *StatusLoop) prepare() {
	if l.vault != nil {
		return
	}
	l.wake, l.hark = make(chan struct{}, 1), make(chan struct{}, 1)
	l.vault = newVault(l.Secrets, l.Refresh, l.Now, l.rouse)
	l.inbox = &inbox{}
	l.said, l.failures, l.seen = map[string]string{}, map[string]string{}, map[series]sighting{}
	l.since, l.told, l.stamps = map[problemKey]time.Time{}, map[string]*told{}, stamps{}
	l.recall()
	l.recallSecrets()
	l.alive()
}

// rouse asks for a tick soon.
func (l *StatusLoop) rouse() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// alive notes a sign of life of the loop.
func (l *StatusLoop) alive() { l.pulse.beat(l.Now()) }

// loop ticks when it is time, when the files have changed, and soon after an event. It
// looks at the clock as often as at the files.
func (l *StatusLoop) loop(ctx context.Context) {
	poll := time.NewTicker(l.Poll)
	defer poll.Stop()
	var due, soonest time.Time
	roused := false
	for ctx.Err() == nil {
		start := l.Now()
		if !start.Before(due) || l.moved() || roused && !start.Before(soonest) {
			after := l.tick(ctx)
			end := l.Now()
			due, roused = end.Add(after), false
			soonest = end.Add(max(l.Gap, min(end.Sub(start), l.Tick))) // a long tick is followed by a long rest
		}
		select {
		case <-ctx.Done():
		case <-l.wake:
			roused = true
		case <-poll.C:
		}
	}
}

// tick does everything once, and says in how long it wants to be called again.
func (l *StatusLoop) tick(ctx context.Context) time.Duration {
	l.alive()
	defer l.alive()
	l.configure()
	if l.want == nil {
		l.publish(ctx, nil, nil)
		return l.Tick
	}
	l.vault.want(l.want.secrets)
	l.keep()
	dataplane, after := l.dataplane(), l.Tick
	var peers []peerView
	if l.want.ipsec() {
		peers, after = l.ipsec(ctx, dataplane)
	} else {
		peers = l.wireguard(dataplane)
	}
	if ctx.Err() == nil {
		l.publish(ctx, peers, dataplane)
	}
	return after
}

// say logs what is the case with a subject, once; an empty text ends it.
func (l *StatusLoop) say(subject, text string) {
	before := l.said[subject]
	if before == text {
		return
	}
	if text == "" {
		delete(l.said, subject)
		l.Log.Info(subject+" is well again", "was", before)
		return
	}
	l.said[subject] = text
	l.Log.Warn(subject + ": " + text)
}
