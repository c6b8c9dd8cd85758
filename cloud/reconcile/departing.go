package reconcile

import (
	"context"
	"maps"
	"slices"

	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// host is a driver that can tell whose pods run though no Deployment says so.
type host interface {
	Tenants(ctx context.Context, estate string, departing []vpn.Owner) ([]plan.Refusal, error)
}

// checkTenants refuses to remove gateways whose pods outlive their Deployment.
func (d *decision) checkTenants(ctx context.Context) error {
	departing := d.departing()
	for _, driver := range d.Drivers {
		h, hosts := driver.(host)
		if !hosts || len(departing) == 0 {
			continue
		}
		found, err := h.Tenants(ctx, d.Estate.Name, departing)
		if err != nil {
			return err
		}
		d.note(d.concerning(found)...)
	}
	return nil
}

// departing are the gateways that this run removes whose Deployment is not there.
func (d *decision) departing() []vpn.Owner {
	if !d.Options.Prune {
		return nil
	}
	goes, deployed := map[vpn.Owner]bool{}, map[vpn.Owner]bool{}
	for _, l := range d.seen.Ledgers {
		goes[l.Owner] = true
	}
	for _, r := range d.seen.Graph {
		if o, known := vpn.ParseOwner(r.Owner); known {
			goes[o] = true
			deployed[o] = deployed[o] || r.ID.Kind == resource.KubernetesKind("Deployment")
		}
	}
	maps.DeleteFunc(goes, func(o vpn.Owner, _ bool) bool {
		_, stands := d.Estate.Gateway(o.Path()) // whose pods they are then
		return deployed[o] || stands || d.Spares(o) || !o.Gateway()
	})
	return slices.SortedFunc(maps.Keys(goes), vpn.Owner.Compare)
}
