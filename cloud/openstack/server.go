package openstack

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

const serversPath = "servers"

// server is one of Nova's, as it lists them in brief.
type server struct {
	ID string `json:"id"`
}

// Servers are the IDs of all servers that the project has.
func (d *Driver) Servers(ctx context.Context) (map[string]bool, error) {
	all, err := list[server](ctx, d, serversPath, nil)
	if err != nil {
		return nil, err
	}
	there := make(map[string]bool, len(all))
	for _, s := range all {
		there[strings.ToLower(s.ID)] = true
	}
	return there, nil
}

// Obstacles names the gateways that would move to a server which the project
// doesn't have: their port would be taken from where it works for nothing. It
// costs one list where an attached port is to move, and no call elsewhere.
func (d *Driver) Obstacles(ctx context.Context, desired, observed resource.Graph) ([]plan.Refusal, error) {
	var moving []resource.Resource
	for id, want := range desired {
		have := observed[id]
		if want.Port != nil && have.Port != nil && want.Port.Server != "" && have.Port.Server != "" && want.Port.Server != have.Port.Server {
			moving = append(moving, want)
		}
	}
	if len(moving) == 0 {
		return nil, nil
	}
	there, err := d.Servers(ctx)
	if err != nil {
		return nil, err
	}
	var refusals []plan.Refusal
	for _, r := range moving {
		if o, known := vpn.ParseOwner(r.Owner); known && !there[r.Port.Server] {
			refusals = append(refusals, plan.Refusal{Owner: o, ID: r.ID, Message: noServer(r.Port.Server, r.Port.Node).Error(),
				Hint: "correct the serverID: the gateway stays where it is until then"})
		}
	}
	slices.SortFunc(refusals, func(a, b plan.Refusal) int { return a.ID.Compare(b.ID) })
	return refusals, nil
}

// destination refuses a change that would take a port which is attached to a
// server that isn't there.
func (v verb) destination(ctx context.Context, p port) error {
	to := v.After.Port.Server
	if p.Device == "" || to == "" || to == p.Device {
		return nil
	}
	err := v.nova(ctx, http.MethodGet, serversPath+"/"+to, nil)
	switch {
	case answered(err, http.StatusNotFound):
		return fmt.Errorf("%w: %w", noServer(to, v.After.Port.Node), err)
	case err != nil:
		return fmt.Errorf("reading server %s: %w", to, err)
	}
	return nil
}

// noServer says where a server's ID was taken from that names none.
func noServer(id, node string) error {
	return unresolved("spec.kubernetes.nodes: the project has no server %s, which is given as the serverID of node %s", id, node)
}
