package plan

import (
	"cmp"
	"strings"

	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// retired tells whether a resource is a port on a node that was taken out of the
// Estate's file: the move to another one is meant.
func (d *draft) retired(p *party, have *resource.Resource) bool {
	if have == nil || have.Port == nil || have.Port.Server == "" || d.in.Estate.Kubernetes.Target != vpn.TargetDirectory {
		return false
	}
	name := d.nodeOf(p, have)
	for _, n := range d.in.Estate.Kubernetes.Nodes {
		if n.ServerID == have.Port.Server || n.Name == name {
			return false
		}
	}
	return true
}

// nodeOf is the name of the node that a port is on: what was seen, else what the
// pod was told; empty where neither says it.
func (d *draft) nodeOf(p *party, have *resource.Resource) string {
	pod := d.in.Observed[resource.ID{Kind: kindDeployment, Namespace: p.owner.Namespace, Name: p.owner.Name}].Object
	told := ""
	if pod != nil {
		for line := range strings.Lines(pod.Content) {
			if name, ok := strings.CutPrefix(strings.TrimSpace(line), "nodeName: "); ok {
				told = strings.Trim(name, `"'`)
			}
		}
	}
	return cmp.Or(have.Port.Node, told)
}

// retire says of a port's change that its node was taken out of the Estate's file.
func (c *Change) retire(node string) {
	for i, a := range c.Attributes {
		if a.Name == attrNode && a.After != "" {
			c.Drift = false
			c.Attributes[i].Before = cmp.Or(node, "a node without a name")
			c.Reason = cmp.Or(node, "its node") + " is no longer in spec.kubernetes.nodes"
		}
	}
}
