package openstack

import (
	"context"
	"fmt"
	"time"

	"github.com/vpnctl/vpnctl/plan/resource"
)

// courtesy is how long a port waits for a rival of the same second to give way.
const courtesy = 5 * poll

// yield gives way to another run that made a port for the owner at the same
// moment, which only the lock keeps from happening: the younger one is deleted
// before it is attached. Ports are looked for by what their create says, so that
// the younger run always sees the older one's.
//
//	the other is        → what is done
//	attached, or older  → ours is deleted
//	of the same second  → that of the higher ID is deleted; ours waits for it
//	younger             → nothing: it gives way
func (v verb) yield(ctx context.Context, own port) error {
	for waited := time.Duration(0); ; waited += poll {
		all, err := lookAlikes[port](ctx, v, portsPath)
		if err != nil {
			return err
		}
		contested := false
		for _, p := range all {
			switch age := p.Created.Compare(own.Created.Time); {
			case p.ID == own.ID || p.Network != own.Network:
			case p.Device != "" || age < 0 || age == 0 && p.ID < own.ID:
				return v.giveWay(ctx, own, p)
			default:
				contested = contested || age == 0
			}
		}
		if !contested || waited >= courtesy {
			return nil
		}
		if err := v.nextLook(ctx); err != nil {
			return fmt.Errorf("waiting for another run's port to give way: %w", err)
		}
	}
}

// giveWay deletes our own port, unless a third run has found and attached it meanwhile:
// then the others give way to that one.
func (v verb) giveWay(ctx context.Context, own, other port) error {
	now, found, err := read[port](ctx, v.Driver, portsPath, own.ID)
	if err != nil || found && now.Device != "" {
		return err
	}
	v.forget(resource.KindPort)
	if err := v.remove(ctx, portsPath, own.ID); err != nil {
		return err
	}
	return conflict("another run made port %s for %s at the same moment", other.ID, v.Owner)
}
