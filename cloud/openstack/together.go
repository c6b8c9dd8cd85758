package openstack

import (
	"context"
	"sync"

	"github.com/vpnctl/vpnctl/cloud"
)

// together runs calls side by side and waits for all of them.
func together(ctx context.Context, calls ...func(context.Context) error) error {
	errs := make([]error, len(calls))
	var wait sync.WaitGroup
	for i, call := range calls {
		wait.Go(func() { errs[i] = call(ctx) })
	}
	wait.Wait()
	return cloud.Gather(errs)
}
