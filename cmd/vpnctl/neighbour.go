package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/cloud/kube"
)

// neighbours tells whether a reconcile of another estate is at work in the cluster.
type neighbours struct {
	cluster interface {
		OtherLeader(ctx context.Context, estate string) (*kube.Leader, error)
	}
	estate string
	dry    bool // nothing is written, so nothing can be taken from it
	log    *slog.Logger
	pause  time.Duration // after a look that failed
}

// refuse refuses to work beside one: a manifest without an estate's label would be
// claimed by both. A cluster that doesn't answer is asked
// again until ctx ends or stop is closed.
func (n neighbours) refuse(ctx context.Context, stop <-chan struct{}) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-stop:
			cancel()
		case <-ctx.Done():
		}
	}()
	for {
		other, err := n.cluster.OtherLeader(ctx, n.estate)
		switch {
		case ctx.Err() != nil, err == nil && other == nil:
			return nil
		case err == nil && n.dry:
			n.log.Warn("a reconcile of another estate is at work in this cluster: manifests without an estate's label are its", "estate", other.Estate, "leader", other.Name, "lease", other.Lease)
			return nil
		case err == nil:
			return fmt.Errorf("reconcile of estate %s is at work in this cluster (Lease %s, held by %s), and manifests without an estate's label are its: "+
				"keep one estate in a cluster by reconcile, and others by apply", other.Estate, other.Lease, other.Name)
		case errors.Is(err, cloud.ErrForbidden):
			n.log.Warn("whether a reconcile of another estate is at work in this cluster can't be seen", "error", err)
			return nil
		}
		n.log.Error("looking for reconciles of other estates", "error", err)
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(n.pause):
		}
	}
}
