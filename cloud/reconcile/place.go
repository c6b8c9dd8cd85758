package reconcile

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	vpnv1alpha1 "github.com/vpnctl/vpnctl/crds/vpn/v1alpha1"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/alloc"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// place chooses the nodes. Its answer is the same wherever an earlier run of the
// same kind was cut off: see alloc.Place.
func (d *decision) place() alloc.Placement {
	t := alloc.Tenants{Home: map[vpn.Owner]string{}, Told: map[vpn.Owner]string{}, Others: map[string]int{}, Leaving: map[string]int{}, Most: d.Estate.Pod.MaxGatewaysPerNode}
	servers, twins := map[string]string{}, d.twins()
	for _, n := range d.seen.Facts.Nodes {
		servers[n.Name] = n.ServerID
	}
	var owners []vpn.Owner
	present := map[string]bool{}
	for _, g := range d.Estate.Gateways {
		owners = append(owners, g.Owner)
		present[g.Owner.String()] = true
		t.Home[g.Owner] = d.seen.Facts.Gateway(g.Owner.String()).ServerID
		if home := t.Home[g.Owner]; home != "" && twins[home] == nil {
			continue
		}
		told := plan.ToldNode(d.seen.Graph, g.Owner)
		t.Told[g.Owner] = told
		// a port is on no server on its way from one network to another
		t.Home[g.Owner] = cmp.Or(t.Home[g.Owner], servers[told], servers[d.operatorsNode(g.Owner)])
	}
	for text, f := range d.seen.Facts.Gateways {
		switch o, _ := vpn.ParseOwner(text); {
		case f.ServerID == "" || present[text]:
		case d.leaves(o):
			t.Leaving[f.ServerID]++
		default:
			t.Others[f.ServerID]++
		}
	}
	return alloc.Place(owners, d.seen.Facts.Nodes, t)
}

// twins are the names of a cluster's nodes by their server, where there are several.
func (d *decision) twins() map[string][]string {
	all := map[string][]string{}
	for _, n := range d.seen.Facts.Nodes {
		if n.ServerID != "" {
			all[n.ServerID] = append(all[n.ServerID], n.Name)
		}
	}
	maps.DeleteFunc(all, func(_ string, names []string) bool { return len(names) < 2 })
	return all
}

// checkNodes names nodes that have the same server: one of them is no node any more, or
// has a wrong providerID.
func (d *decision) checkNodes() {
	twins := d.twins()
	for _, server := range slices.Sorted(maps.Keys(twins)) {
		names := slices.Sorted(slices.Values(twins[server]))
		d.notices = append(d.notices, plan.Notice{
			Message: "nodes " + strings.Join(names, ", ") + " name the same server " + server + " in their providerID: a gateway there stays on the node that its Deployment names",
			Hint:    "delete the Node that is left over, or register it again under the ID of its own server",
		})
	}
}

// leaves tells whether this run removes a gateway, as far as it is up to its options.
func (d *decision) leaves(o vpn.Owner) bool {
	return d.Options.Prune && !d.Spares(o) && d.selected(o)
}

// homeless is why gateways find no node: a cluster whose nodes name no servers at all is
// another fault than one whose nodes are full or away.
func (d *decision) homeless() string {
	for _, n := range d.seen.Facts.Nodes {
		if n.ServerID != "" {
			return vpnv1alpha1.ReasonNodeSelection
		}
	}
	if len(d.seen.Facts.Nodes) == 0 {
		return vpnv1alpha1.ReasonNodeSelection
	}
	return vpnv1alpha1.ReasonProviderID
}
