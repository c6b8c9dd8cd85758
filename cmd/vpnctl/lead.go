package main

import (
	"cmp"
	"context"
	"errors"
	"os"
	"strings"
	"sync/atomic"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/cloud/kube"
	"github.com/vpnctl/vpnctl/cloud/reconcile"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// elected is a cluster in which replicas agree on one.
type elected interface {
	// Lead runs lead while the Lease is this replica's, and gives it back once that, or
	// ctx, has ended.
	Lead(ctx context.Context, name, namespace, identity string, lead func(context.Context)) error
}

// watched is a cluster that tells of changes.
type watched interface {
	Changes(ctx context.Context) (<-chan struct{}, error)
}

// eventful is a cluster that takes events.
type eventful interface {
	Event(ctx context.Context, m cloud.Manifest, kind, reason, message string) error
}

// candidate is one of several replicas, or the only one.
type candidate struct {
	elect           elected // nil: alone
	lease           string
	namespace, name string
}

// ownNamespace is where a pod finds the name of its namespace.
const ownNamespace = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"

func (c reconcileCommand) candidate(cluster *kube.Driver, e vpn.Estate) (candidate, error) {
	if c.Alone || c.DryRun {
		return candidate{}, nil
	}
	own, _ := os.ReadFile(ownNamespace)
	namespace := cmp.Or(c.LeaderElectNamespace, strings.TrimSpace(string(own)))
	if namespace == "" {
		return candidate{}, errors.New("this is no pod: name the namespace of the Lease with --leader-elect-namespace, or say --alone")
	}
	elect, can := any(cluster).(elected)
	if !can {
		return candidate{}, errors.New("this version can't elect a leader: run one process, with --alone")
	}
	return candidate{elect: elect, lease: "vpnctl-reconcile-" + e.Name, namespace: namespace, name: holder()}, nil
}

// run runs a loop whenever this replica leads, until a signal or the end of ctx. The
// Lease is given back once the loop has ended.
func (c candidate) run(ctx context.Context, stop *interrupts, loop func(context.Context)) error {
	if c.elect == nil {
		loop(ctx)
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var leads atomic.Bool
	go func() { // who only stands by has nothing to finish
		select {
		case <-ctx.Done():
		case <-stop.stop:
			if !leads.Load() {
				cancel()
			}
		}
	}()
	for ctx.Err() == nil {
		err := c.elect.Lead(ctx, c.lease, c.namespace, c.name, func(held context.Context) {
			leads.Store(true)
			defer leads.Store(false)
			loop(held)
			select {
			case <-stop.stop:
				cancel()
			default:
			}
		})
		if err != nil && ctx.Err() == nil {
			return err
		}
	}
	return nil
}

// attend lets the loop hear of changes as long as it leads.
func attend(ctx context.Context, cluster *kube.Driver, loop *reconcile.Controller) {
	if w, can := any(cluster).(watched); can {
		changes, err := w.Changes(ctx)
		if err != nil {
			loop.Log.Error("watching the cluster: only a resync looks", "error", err)
		}
		loop.Changes = changes
	}
	loop.Run(ctx)
}

// herald tells people through the cluster.
type herald struct{ *kube.Driver }

// Event writes one into the manifest's namespace.
func (h herald) Event(ctx context.Context, m cloud.Manifest, kind, reason, message string) error {
	if e, can := any(h.Driver).(eventful); can {
		return e.Event(ctx, m, kind, reason, message)
	}
	return nil
}
