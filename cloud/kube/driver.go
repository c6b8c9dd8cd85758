package kube

import (
	"context"
	"fmt"
	"time"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/resource"
)

// Manager is the field manager that vpnctl writes as.
const Manager = "vpnctl"

// Options configure a Driver.
type Options struct {
	// Stop, once closed, ends waiting for what the cluster does by itself: the call in
	// flight ends, and a later run goes on.
	Stop <-chan struct{}
	// OperatorStopped tells that no operator looks after the gateways any more, whose
	// objects may then be taken over.
	OperatorStopped bool
	// Gone is how long a deleted object may take to go. Default: 5 minutes.
	Gone time.Duration
	// Poll is how often that is looked at. Default: 1 second.
	Poll time.Duration
	// Now is what time it is, for statuses, Events and Leases to tell people. How long
	// something takes isn't measured by it. Default: time.Now.
	Now func() time.Time
}

// Driver is a cloud.Driver over one cluster.
type Driver struct {
	api     dynamic.Interface
	meta    metadata.Interface // for what may be read of Secrets, and for what only its changes matter of
	options Options
	told    told
}

var _ cloud.Driver = (*Driver)(nil)

func newDriver(api dynamic.Interface, meta metadata.Interface, o Options) *Driver {
	if o.Gone == 0 {
		o.Gone = 5 * time.Minute
	}
	if o.Poll == 0 {
		o.Poll = time.Second
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Driver{api: api, meta: meta, options: o}
}

// Handles tells that everything which isn't OpenStack's is an object here.
func (d *Driver) Handles(k resource.Kind) bool { return !k.Cloud() }

// Apply writes or removes one object. The error wraps cloud.ErrConflict when the object
// is no longer as the plan saw it, or is somebody else's.
func (d *Driver) Apply(ctx context.Context, c plan.Change) (resource.GatewayFacts, error) {
	var err error
	switch c.Action {
	case plan.Create, plan.Update, plan.Replace, plan.Adopt:
		err = d.write(ctx, c)
	case plan.Delete:
		if err = d.remove(ctx, c); err == nil {
			err = d.vacated(ctx, c)
		}
	default:
		err = fmt.Errorf("an object can't be changed by %s", c.Action)
	}
	if err != nil {
		return resource.GatewayFacts{}, fmt.Errorf("%s: %w", c.ID, err)
	}
	return resource.GatewayFacts{}, nil
}

// objects is where the objects of a kind in a namespace are.
func (d *Driver) objects(k kind, namespace string) dynamic.ResourceInterface {
	return d.api.Resource(k.resource).Namespace(namespace)
}
