package plan

import (
	"cmp"
	"encoding/json"
	"slices"
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
	return cmp.Or(have.Port.Node, ToldNode(d.in.Observed, p.owner))
}

// ToldNode is the name of the node that a gateway's Deployment gives its pod; empty
// where there is none.
func ToldNode(g resource.Graph, o vpn.Owner) string {
	pod := g[resource.ID{Kind: kindDeployment, Namespace: o.Namespace, Name: o.Name}]
	if pod.Object == nil || pod.Owner != o.String() {
		return ""
	}
	told := ""
	if live := pod.Object.Live; pod.Object.Content == "" && live != nil { // not compared with what is desired yet
		var d struct {
			Spec struct {
				Template struct{ Spec struct{ NodeName string } }
			}
		}
		if json.Unmarshal(live.JSON, &d) == nil {
			told = d.Spec.Template.Spec.NodeName
		}
	}
	for line := range strings.Lines(pod.Object.Content) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "nodeName: "); ok {
			told = strings.Trim(name, `"'`)
		}
	}
	return told
}

// NodeOn is the name of the node on a server, empty where there is none. Of several it is
// the first of the likely ones that is there, else the first by name: likely is asked only
// then, and begins with what the gateway's Deployment says.
func NodeOn(server string, nodes []resource.Node, likely func() []string) string {
	var there []string
	for _, n := range nodes {
		if server != "" && n.ServerID == server {
			there = append(there, n.Name)
		}
	}
	if len(there) > 1 {
		for _, name := range likely() {
			if slices.Contains(there, name) {
				return name
			}
		}
	}
	if len(there) == 0 {
		return ""
	}
	return slices.Min(there)
}

// makeRoom lets the ports that come to a crowded server wait for those that leave it.
// It reports whether it had to refuse somebody, because one of these stays after all.
func (d *draft) makeRoom() bool {
	if len(d.in.Crowded) == 0 {
		return false
	}
	leaving := map[string][]*party{}
	for _, p := range d.sorted {
		have := d.in.Observed[p.id(resource.KindPort)]
		if s := body(&have, port).Server; p.gateway == nil && p.fate != stay && d.in.Crowded[s] {
			leaving[s] = append(leaving[s], p)
		}
	}
	refused := false
	for _, p := range d.sorted {
		c, ok := d.changes[p.id(resource.KindPort)]
		to := ""
		if ok {
			to = body(c.After, port).Server
		}
		if !d.in.Crowded[to] || body(c.Before, port).Server == to {
			continue
		}
		for _, o := range leaving[to] {
			if left, goes := d.changes[o.id(resource.KindPort)]; goes {
				d.waits[c] = append(d.waits[c], left.ID)
				continue
			}
			refused = true
			d.refuse(Refusal{Owner: p.owner, ID: c.ID,
				Message: "node " + body(c.After, port).Node + " is full while " + o.owner.Path() + " is there", Hint: "see what is said of " + o.owner.Path()})
			d.drop(p)
			break
		}
	}
	return refused
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
