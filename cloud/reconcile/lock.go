package reconcile

import (
	"context"
	"fmt"

	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/state"
)

// Locker is the driver of the system that the estate's lock stands in.
type Locker interface {
	state.Claimant
	// Locate finds the estate's network, subnet and router.
	Locate(ctx context.Context, e vpn.Estate) (resource.Facts, error)
}

// Lock takes the estate's lock, which every run that writes holds from before
// its plan is made until it ends. Estate and address are filled in here.
func Lock(ctx context.Context, e vpn.Estate, l Locker, o state.LockOptions) (*state.Lock, error) {
	where, err := l.Locate(ctx, e)
	if err != nil {
		return nil, err
	}
	if why, hint := unlockable(e.OpenStack.LockAddress, where); why != "" {
		return nil, fmt.Errorf("%s: %s", why, hint)
	}
	o.Estate, o.Address = e.Name, e.OpenStack.LockAddress
	if !o.Address.IsValid() {
		o.Address = state.LockAddress(where.Subnet)
	}
	return state.Acquire(ctx, l, o)
}
