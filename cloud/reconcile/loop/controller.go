package loop

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/cloud/reconcile"
	"github.com/vpnctl/vpnctl/cloud/reconcile/board"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/render/live"
)

// Cluster holds the manifests that a Controller works from.
type Cluster interface {
	// Manifests lists every gateway, peer and link, the oldest first. A list that ended
	// early is an error, never less.
	Manifests(ctx context.Context) ([]cloud.Manifest, error)
	// Hold puts the finalizer on a manifest, Release takes it off. A manifest that is gone
	// is no error.
	Hold(ctx context.Context, m cloud.Manifest) error
	Release(ctx context.Context, m cloud.Manifest) error
}

// Herald tells people what became of their manifests.
type Herald interface {
	// Record writes a status where it differs from the one that the manifest was read
	// with, and tells whether it did.
	Record(ctx context.Context, m cloud.Manifest, s cloud.Status) (changed bool, err error)
	// Event notes something that happened.
	Event(ctx context.Context, m cloud.Manifest, h cloud.Happening) error
}

// Controller keeps an estate as the manifests in a cluster say. Only one may run rounds
// at a time; which one is for its caller to see to.
type Controller struct {
	EstateFile string // read anew in each round
	Cluster    Cluster
	Herald     Herald
	Drivers    []cloud.Driver
	Locker     reconcile.Locker
	Holder     string // who holds the lock, for others to read
	Ended      string // a holder that is known to have ended, maybe without giving the lock back

	// Changes signal that something changed in the cluster. Nil: only Resync looks.
	Changes <-chan struct{}
	// Stop, once closed, ends the loop: the calls in flight are finished, the lock is given
	// back. Cancelling Run's context cuts calls off.
	Stop <-chan struct{}
	// Missing tells which keys of Secrets, by namespace, are not there, and what can't be
	// seen. Nil: nobody looks.
	Missing func(ctx context.Context, refs map[string][]vpn.SecretRef) (map[string][]vpn.SecretRef, []plan.Notice, error)
	// PublicKey is that of a private key in a Secret; empty where there is none. Nil:
	// only the gateway's pod tells.
	PublicKey func(ctx context.Context, namespace string, ref vpn.SecretRef) (string, error)
	// Definition is the UID of the CRD of a kind of manifests; empty: it is being deleted,
	// which deletes all of them, or gone. An error that wraps cloud.ErrForbidden: it may not
	// be seen. Nil: nobody looks.
	Definition func(ctx context.Context, kind string) (uid string, err error)

	Resync      time.Duration // between two looks without a reason; default 10 minutes
	LockTimeout time.Duration // how long another run of the estate is waited for; default 15 seconds
	Parallelism int           // gateways and links side by side; default 8
	MaxDeletes  int           // gateways and links that may be on their way out at once; 0: plan.DefaultMaxDeletes, negative: none
	DryRun      bool          // plan and report, write nothing
	Log         *slog.Logger  // nil: none

	once    sync.Once
	queue   *queue
	estate  estateFile
	asked   map[vpn.Owner][]vpn.SecretRef // what was missing when it was asked for last
	derived map[vpn.Owner]publicKey
	begun   map[vpn.Owner]string // who is being removed, by the manifest's UID
	noticed map[string]bool      // what the last round said of those that are left whole
	known   live.Memory
	board   *board.Board
	named   atomic.Pointer[map[string]bool] // Secrets that gateways use, namespace/name

	attached   map[string]member    // the peers that were read last, by namespace/name
	lost       map[string]vpn.Owner // whose those were that went with their CRD
	definition string               // UID of the CRD of peers as it was read last; empty: not known
	defined    bool                 // it needn't be read again

	strangers map[string]bool // what was told of other estates' manifests
	planned   string          // what a dry run has logged last
	logged    bool            // it has logged something
}

// The pace of the loop. All of it is measured by the monotonic clock.
const (
	defaultResync      = 10 * time.Minute
	defaultLockTimeout = 15 * time.Second
	quiet              = 300 * time.Millisecond // that one change may be followed by others
	longestPause       = 5 * time.Second        // after a round that took long
	longestIdle        = 15 * time.Second       // after rounds that were for nothing
	longestTurn        = 15 * time.Second       // after which an apply begins nothing more, see late
)

func (c *Controller) prepare() {
	c.once.Do(func() {
		c.Resync = cmp.Or(c.Resync, defaultResync)
		c.LockTimeout = cmp.Or(c.LockTimeout, defaultLockTimeout)
		c.Holder = cmp.Or(c.Holder, "vpnctl reconcile")
		if c.Log == nil {
			c.Log = slog.New(slog.DiscardHandler)
		}
		c.queue = newQueue()
		c.derived, c.begun = map[vpn.Owner]publicKey{}, map[vpn.Owner]string{}
		c.asked, c.lost = map[vpn.Owner][]vpn.SecretRef{}, map[string]vpn.Owner{}
		c.board = board.New(c.DryRun, c.Drivers)
	})
}

// Run runs rounds until Stop is closed or ctx ends. What fails is tried again: there is
// no error that ends it.
func (c *Controller) Run(ctx context.Context) {
	c.prepare()
	c.board.Lead(true)
	defer c.board.Lead(false)
	c.queue.cluster.succeeded() // whoever leads anew has just reached the cluster
	for idle := 0; !c.stopped(ctx); {
		began := time.Now()
		next, done := c.turn(ctx)
		if idle++; done {
			idle = 0
		}
		pause := max(doubled(quiet, idle, longestIdle), min(time.Since(began), longestPause))
		if time.Now().Before(c.queue.observe.due) { // nobody will look so soon
			pause = quiet
		}
		c.board.Waiting(next)
		c.wait(ctx, next, time.Now().Add(pause))
	}
}

// Names tells whether a gateway that was last read uses a Secret: whoever watches the
// cluster asks it for every Secret there is.
func (c *Controller) Names(namespace, name string) bool {
	named := c.named.Load()
	return named != nil && (*named)[namespace+"/"+name]
}

// Deaf takes down that changes of a resource can't be watched, and why; without an error
// that they can. The log and the page tell: until Resync nobody notices such a change.
func (c *Controller) Deaf(resource string, err error) {
	c.prepare()
	if c.board.Deaf(resource, err) {
		c.Log.Warn("changes are not told of, and seen only once all is looked at again", "resource", resource, "again", c.Resync, "error", err)
	}
}

// StandBy shows what a replica waits for. One that can't ever lead as things are isn't
// ready. What changed is logged.
func (c *Controller) StandBy(s board.Standby) {
	c.prepare()
	if s.Err != nil {
		s.Err = errors.New(stable(s.Err.Error()))
	}
	before := c.board.StandBy(s)
	switch {
	case s.Err != nil && (before.Err == nil || before.Err.Error() != s.Err.Error()):
		c.Log.Error("can't lead", "error", s.Err)
	case s.Err == nil && s.Leader != "" && (before.Leader != s.Leader || before.Err != nil):
		c.Log.Info("another replica leads", "leader", s.Leader, "lease", s.Lease)
	}
}

// Handler serves what the Controller shows, whether it leads or stands by.
func (c *Controller) Handler() http.Handler {
	c.prepare()
	return c.board.Handler()
}

func (c *Controller) stopped(ctx context.Context) bool {
	select {
	case <-c.Stop:
		return true
	case <-ctx.Done():
		return true
	default:
		return false
	}
}

// wait returns when the next round is due, or shortly after a change, so that a burst of
// them is one round; then not before early, so that rounds leave the systems that they
// ask half of the time at least. No round follows another at once.
func (c *Controller) wait(ctx context.Context, next, early time.Time) {
	due := time.NewTimer(max(time.Until(next), quiet))
	defer due.Stop()
	select {
	case <-ctx.Done():
		return
	case <-c.Stop:
		return
	case <-due.C:
		return
	case _, open := <-c.Changes:
		if !open { // nobody tells any more
			c.Changes = nil
		}
	}
	more := time.NewTimer(max(time.Until(early), quiet))
	defer more.Stop()
	select {
	case <-ctx.Done():
	case <-c.Stop:
	case <-due.C:
	case <-more.C:
	}
}
