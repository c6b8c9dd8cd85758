package main

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"os"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/vpnctl/vpnctl/cloud/kube"
	"github.com/vpnctl/vpnctl/cloud/reconcile/board"
)

// candidate is one of several replicas, or the only one.
type candidate struct {
	elect *kube.Driver // nil: alone
	lease kube.Lease
	shows func(board.Standby) // what is waited for
}

// ownNamespace is where a pod finds the name of its namespace.
const ownNamespace = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"

func (c reconcileCommand) candidate(cluster *kube.Driver, estate, who string) (candidate, error) {
	if c.Alone || c.DryRun { // a dry run writes no Lease either
		return candidate{}, nil
	}
	own, _ := os.ReadFile(ownNamespace)
	namespace := cmp.Or(c.LeaderElectNamespace, strings.TrimSpace(string(own)))
	if namespace == "" {
		return candidate{}, errors.New("this is no pod: name the namespace of the Lease with --leader-elect-namespace, or say --alone")
	}
	return candidate{elect: cluster, lease: kube.Lease{Namespace: namespace, Name: "vpnctl-reconcile-" + estate, Estate: estate, Identity: who, Duration: c.LeaderElectLease}}, nil
}

// run runs a loop whenever this replica leads, until a signal or the end of ctx. The
// Lease is given back once the loop has ended. The loop is told who led before and didn't.
func (c candidate) run(ctx context.Context, stop *interrupts, log *slog.Logger, loop func(ctx context.Context, before string) error) error {
	if c.elect == nil {
		return loop(ctx, "")
	}
	ctx, cancel := context.WithCancel(ctx)
	place := c.lease.Namespace + "/" + c.lease.Name
	c.lease.Waits = func(holder string, err error) {
		c.shows(board.Standby{Estate: c.lease.Estate, Lease: place, Leader: holder, Err: err})
	}
	var leads atomic.Bool
	var wait sync.WaitGroup
	wait.Go(func() { // who only stands by has nothing to finish
		select {
		case <-ctx.Done():
		case <-stop.stop:
			if !leads.Load() {
				cancel()
			}
		}
	})
	defer wait.Wait()
	defer cancel()
	for ctx.Err() == nil {
		log.Info("standing by", "lease", place)
		c.shows(board.Standby{Estate: c.lease.Estate, Lease: place})
		err := c.elect.Lead(ctx, c.lease, func(held context.Context, before string) error {
			leads.Store(true)
			defer leads.Store(false)
			log.Info("leading", "before", before)
			return loop(held, before)
		})
		select {
		case <-stop.stop:
			return nil
		default:
		}
		switch {
		case errors.Is(err, kube.ErrLost):
			log.Warn("leads no longer", "error", err)
		case err != nil:
			return err
		}
	}
	return nil
}
