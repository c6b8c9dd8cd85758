package directory

import (
	"context"
	"fmt"
	"os"
	"sync"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/resource"
)

// Driver is a cloud.Driver over one directory.
type Driver struct {
	root string
	// folders guards removing a folder that became empty against writing into it:
	// writes share it, removals have it alone.
	folders sync.RWMutex
}

var _ cloud.Driver = (*Driver)(nil)

// New returns a driver for the tree below root. The directory need not exist; the
// first write makes it.
func New(root string) *Driver { return &Driver{root: root} }

// Handles tells that everything which isn't OpenStack's is a file here.
func (d *Driver) Handles(k resource.Kind) bool { return !k.Cloud() }

// Apply writes or removes one file. The error wraps cloud.ErrConflict when the file
// is no longer as the plan saw it, or wasn't written by vpnctl for this estate.
func (d *Driver) Apply(ctx context.Context, c plan.Change) (resource.GatewayFacts, error) {
	if err := ctx.Err(); err != nil {
		return resource.GatewayFacts{}, err
	}
	var err error
	switch c.Action {
	case plan.Create, plan.Update, plan.Replace:
		err = d.write(c)
	case plan.Delete:
		err = d.remove(c)
	default:
		err = fmt.Errorf("a file can't be changed by %s", c.Action)
	}
	if err != nil {
		return resource.GatewayFacts{}, fmt.Errorf("%s: %w", c.ID, err)
	}
	return resource.GatewayFacts{}, nil
}

// open opens the directory so that no path leads out of it. It reports os.ErrNotExist
// where there is none.
func (d *Driver) open() (*os.Root, error) { return os.OpenRoot(d.root) }
