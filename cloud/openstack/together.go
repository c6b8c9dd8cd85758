package openstack

import (
	"context"
	"sync"

	"github.com/hashicorp/go-multierror"
)

// together runs calls side by side and waits for all of them.
func together(ctx context.Context, calls ...func(context.Context) error) error {
	errs := make([]error, len(calls))
	var wait sync.WaitGroup
	for i, call := range calls {
		wait.Go(func() { errs[i] = call(ctx) })
	}
	wait.Wait()
	var all *multierror.Error
	for _, err := range errs {
		if err != nil {
			all = multierror.Append(all, err)
		}
	}
	if all != nil && len(all.Errors) == 1 {
		return all.Errors[0]
	}
	return all.ErrorOrNil()
}
