package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/cloud/kube"
	"github.com/vpnctl/vpnctl/cloud/openstack"
	"github.com/vpnctl/vpnctl/cloud/reconcile/loop"
	"github.com/vpnctl/vpnctl/plan/manifest"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

type reconcileCommand struct {
	clusterSide
	DryRun               bool          `help:"Plan and report, write nothing: no lock, no status, no finalizer."`
	Listen               string        `default:":8080" placeholder:"ADDR" help:"Address of the status page, /metrics, /healthz and /readyz. Default: ${default}."`
	Resync               time.Duration `default:"10m" help:"How long until all is looked at again without a reason. Default: ${default}."`
	Parallelism          int           `default:"8" placeholder:"N" help:"Gateways side by side. Default: ${default}."`
	MaxDeletes           int           `default:"10" placeholder:"N" help:"Gateways that may be on their way out at once: of more, nothing is removed until this is raised. Default: ${default}."`
	LeaderElectNamespace string        `placeholder:"NS" help:"Where the Lease stands by which replicas agree on one. Default: the pod's namespace."`
	LeaderElectLease     time.Duration `default:"15s" placeholder:"DURATION" help:"How long replicas wait for the one that works when it gives no sign of life. Default: ${default}."`
	Alone                bool          `help:"Elect no leader: there is no other replica."`
}

// Help is what --help adds.
func (reconcileCommand) Help() string {
	return `Keeps the estate as the gateways and peers in the cluster say, until it is told to stop: what apply would do, whenever a manifest, an object, a node or the cloud changes. A gateway is removed when its manifest is deleted, and only then. Each status says how its gateway stands. What fails is tried again, by itself.

The Estate's file is read anew each time; one that is not valid leaves the last good one in force. Of several replicas one works, and the others stand by.

Examples:

    vpnctl reconcile --estate vpnctl.yaml
    vpnctl reconcile --estate vpnctl.yaml --dry-run --listen 127.0.0.1:8080

The first Ctrl-C, or SIGTERM, finishes the calls in flight and gives the lock and the Lease back.`
}

// How long a deleted object, and a port that comes to a server or leaves one, is waited
// for: what takes longer is looked at again later, so that the other gateways' turns come.
const (
	goneWithin     = 10 * time.Second
	attachedWithin = 30 * time.Second
)

// leastLease leaves an API server that is busy the time to renew one.
const leastLease = 3 * time.Second

func (c reconcileCommand) check(g *Globals) error {
	switch {
	case g.Sim.On:
		return errors.New("reconcile needs a cluster, and --sim has none: try plan and apply with it")
	case c.Parallelism < 1:
		return fmt.Errorf("--parallelism is %d, but must be at least 1", c.Parallelism)
	case c.Resync < time.Second:
		return fmt.Errorf("--resync is %s, but must be at least 1s", c.Resync)
	case c.MaxDeletes < 0:
		return fmt.Errorf("--max-deletes is %d, but can't be negative", c.MaxDeletes)
	case c.LeaderElectLease < leastLease || c.LeaderElectLease > kube.LongestLease:
		return fmt.Errorf("--leader-elect-lease is %s, but must be from %s to %s", c.LeaderElectLease, leastLease, kube.LongestLease)
	case c.Alone && c.LeaderElectNamespace != "":
		return errors.New("--alone and --leader-elect-namespace exclude each other")
	}
	return nil
}

func (c reconcileCommand) Run(g *Globals, s *streams, stop *interrupts) error {
	if err := c.check(g); err != nil {
		return err
	}
	file, estate, err := g.clusterEstate(s)
	if err != nil {
		return err
	}
	collectOften()
	log := g.agentLog(s)
	cluster, address, err := c.connect(kube.Options{Stop: stop.stop, Gone: goneWithin, OperatorStopped: c.OperatorStopped})
	if err != nil {
		return err
	}
	who := identity()
	candidate, err := c.candidate(cluster, estate.Name, who)
	if err != nil {
		return err
	}
	stop.Graceful()
	front := &front{}
	return serving(stop, c.Listen, front, func(ctx context.Context) error {
		o := openstack.Options{Stop: stop.stop, Log: log, UserAgent: userAgent(), DetachTimeout: attachedWithin}
		find := customersOfSecrets(cluster, o)
		o.Cloud, o.Customer = estate.OpenStack.Cloud, find
		driver, err := connecting(ctx, stop, log, front, o)
		if err != nil || driver == nil {
			return err
		}
		watched := &loop.Controller{
			EstateFile: file, Cluster: cluster, Herald: cluster, Drivers: []cloud.Driver{driver, cluster}, Locker: driver, Holder: who,
			Missing: cluster.Missing, PublicKey: cluster.PublicKey, Definition: cluster.Definition, MaxDeletes: cmp.Or(c.MaxDeletes, -1), Stop: stop.stop, Resync: c.Resync, Parallelism: c.Parallelism, DryRun: c.DryRun, Log: log,
		}
		neighbours := neighbours{cluster: cluster, estate: estate.Name, dry: c.DryRun, log: log, pause: 5 * time.Second}
		if err := neighbours.refuse(ctx, stop.stop); err != nil {
			return err
		}
		candidate.shows = watched.StandBy
		front.show(watched.Handler())
		log.Info("started", "estate", estate.Name, "cloud", driver.Project(), "cluster", address, "version", Version())
		return candidate.run(ctx, stop, log, func(ctx context.Context, before string) error {
			if candidate.elect != nil { // one may have begun since
				if err := neighbours.refuse(ctx, stop.stop); err != nil {
					return err
				}
			}
			watching, end := context.WithCancel(ctx)
			changes := cluster.Changes(watching, estate.Name, kube.Watching{Named: watched.Names, Denied: watched.Deaf})
			watched.Ended, watched.Changes = before, changes
			watched.Run(ctx)
			end()
			for range changes { // which is closed once no watch runs any more
			}
			return nil
		})
	})
}

// clusterEstate reads the Estate's file, which must be for a cluster.
func (g *Globals) clusterEstate(s *streams) (string, vpn.Estate, error) {
	file := g.estateFile()
	if file == "" {
		return "", vpn.Estate{}, errors.New("there is no Estate here: name its file with --estate")
	}
	read, found := manifest.FromCluster(file, nil)
	if err := writeDiagnostics(s.stderr, found); err != nil {
		return "", vpn.Estate{}, err
	}
	if found.Errors() > 0 {
		return "", vpn.Estate{}, errSaid
	}
	if target := read.Estate.Kubernetes.Target; target != vpn.TargetCluster {
		return "", vpn.Estate{}, fmt.Errorf("%s: spec.kubernetes.target is %s, but reconcile works from the manifests in a cluster: %s", file, target, vpn.TargetCluster)
	}
	return file, read.Estate, nil
}

// connecting logs in to the cloud, and tries again as long as it is only the cloud that
// is away. Without a driver it was told to stop.
func connecting(ctx context.Context, stop *interrupts, log *slog.Logger, f *front, o openstack.Options) (*openstack.Driver, error) {
	for pause := 15 * time.Second; ; pause = min(2*pause, 2*time.Minute) {
		driver, err := openstack.Connect(ctx, o)
		if err == nil || !openstack.Passing(err) {
			return driver, err
		}
		log.Error("the cloud is away", "error", err, "again", pause)
		f.wait(err)
		select {
		case <-ctx.Done():
			return nil, nil
		case <-stop.stop:
			return nil, nil
		case <-time.After(pause):
		}
	}
}
