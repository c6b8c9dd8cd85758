package reconcile

import (
	"context"
	"slices"

	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// housing is a driver that knows which servers there are.
type housing interface {
	// Servers are the IDs of all that ports can be attached to.
	Servers(ctx context.Context) (map[string]bool, error)
}

// housed is the decision with the nodes left out whose server doesn't exist: a node
// stays Ready for a while after its server was deleted, and a providerID may be wrong
// from the start. It is asked where a port is to be attached, and only of a cluster's
// nodes: those that the Estate's file names are for people to correct.
func (d *decision) housed(ctx context.Context) (*decision, error) {
	if d.Estate.Kubernetes.Target != vpn.TargetCluster || !d.attaches() {
		return d, nil
	}
	for _, driver := range d.Drivers {
		h, knows := driver.(housing)
		if !knows {
			continue
		}
		there, err := h.Servers(ctx)
		if err != nil {
			return nil, err
		}
		if gone := d.vacate(there); gone {
			return prepare(d.Input, d.raw), nil
		}
	}
	return d, nil
}

// attaches tells whether any gateway's port is to come to another server.
func (d *decision) attaches() bool {
	for id, want := range d.desired {
		if want.Port == nil || want.Port.Server == "" {
			continue
		}
		if have := d.seen.Graph[id]; have.Port == nil || have.Port.Server != want.Port.Server {
			return true
		}
	}
	return false
}

// vacate takes down which nodes' servers aren't there, and tells whether there are any.
func (d *decision) vacate(there map[string]bool) bool {
	raw, gone := *d.raw, false
	raw.Facts.Nodes = slices.Clone(raw.Facts.Nodes)
	for i, n := range raw.Facts.Nodes {
		if n.ServerID == "" || n.Problem != "" || there[n.ServerID] {
			continue
		}
		gone = true
		raw.Facts.Nodes[i].Ready, raw.Facts.Nodes[i].Problem = false, "the project has no server "+n.ServerID
		raw.Notices = append(slices.Clip(raw.Notices), plan.Notice{
			Message: "node " + n.Name + " is left out: its providerID names server " + n.ServerID + ", which the project doesn't have",
			Hint:    "remove the node, or register it again under the ID of its server",
		})
	}
	d.raw = &raw
	return gone
}
