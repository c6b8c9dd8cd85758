package manifest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/netip"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	estatev1alpha1 "github.com/vpnctl/vpnctl/crds/estate/v1alpha1"
	"github.com/vpnctl/vpnctl/plan/manifest/decode"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// estate reads the configuration of the installation.
func estate(c check, w estatev1alpha1.Estate) vpn.Estate {
	s := w.Spec
	e := vpn.Estate{
		Name:            c.name,
		OpenStack:       c.openStack(s.OpenStack),
		Kubernetes:      c.kubernetes(s.Kubernetes),
		ServiceCIDRPool: c.pool(s.ServiceCIDRPool),
		Pod:             c.pod(s.GatewayPod),
		NetworkPolicy:   s.NetworkPolicy.Enabled == nil || *s.NetworkPolicy.Enabled,
		Patches:         c.patches(s.Patches),
		Monitoring:      vpn.Monitoring{PodMonitor: s.Monitoring.PodMonitor, PrometheusRule: s.Monitoring.PrometheusRule},
	}
	e.NetworkAttachmentTemplate = read(c, "spec.networkAttachmentTemplate", s.NetworkAttachmentTemplate, attachment)
	e.InternalSourceCIDRs = c.internalSources(s.InternalSourceCIDRs, e.ServiceCIDRPool)
	e.OpenStack.Clouds = c.clouds(s.OpenStack, e.Kubernetes.Target)
	return e
}

func (c check) openStack(w estatev1alpha1.OpenStack) vpn.OpenStack {
	const base = "spec.openstack"
	return vpn.OpenStack{
		Cloud:          read(c, base+".cloud", w.Cloud, name),
		Network:        read(c, base+".network", w.Network, name),
		Router:         read(c, base+".router", w.Router, name),
		FloatingIPPool: read(c, base+".floatingIPPool", w.FloatingIPPool, name),
		LockAddress:    read(c, base+".lockAddress", w.LockAddress, address),
	}
}

// kubernetes reads the target. A cluster knows its nodes and needs no folder; for
// a directory the Estate has to say both.
func (c check) kubernetes(w estatev1alpha1.Kubernetes) vpn.Kubernetes {
	const base = "spec.kubernetes"
	k := vpn.Kubernetes{Target: estatev1alpha1.DefaultTarget}
	if w.Target != "" {
		k.Target = read(c, base+".target", w.Target, one(vpn.TargetCluster, vpn.TargetDirectory))
	}
	switch k.Target {
	case vpn.TargetDirectory:
		k.Directory = c.directory(base+".directory", w.Directory)
		k.Nodes = c.nodes(base+".nodes", w.Nodes)
	case vpn.TargetCluster:
		if w.Directory != "" && w.Directory != estatev1alpha1.DefaultDirectory {
			c.fail(base+".directory", refuse("set, but target is cluster").with("remove it, or set target: directory"))
		}
		if len(w.Nodes) > 0 {
			c.fail(base+".nodes", refuse("set, but target is cluster, which knows its nodes itself").with("remove them, or set target: directory"))
		}
	}
	return k
}

// directory reads the folder of the rendered tree, which must not hold the
// Estate's own file: everything in it is left out when manifests are read.
func (c check) directory(field, dir string) string {
	dir = cmp.Or(dir, estatev1alpha1.DefaultDirectory)
	if strings.ContainsFunc(dir, func(r rune) bool { return r < ' ' }) {
		c.fail(field, refuse("%s holds control characters", quoted(dir)))
		return dir
	}
	if contains(fromFile(c.file, dir), absolute(c.file)) {
		c.fail(field, refuse("%s holds the Estate's own file; what is rendered needs a folder of its own", quoted(dir)))
	}
	return filepath.ToSlash(filepath.Clean(dir))
}

// uuid is how Nova names a server.
var uuid = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)

func (c check) nodes(base string, list []estatev1alpha1.Node) []vpn.Node {
	if len(list) == 0 {
		c.fail(base, refuse("required with target directory, but empty: nothing else says where gateways can run").with("%s", c.sample(base)))
	}
	names, servers := map[string]int{}, map[string]int{}
	var out []vpn.Node
	for i, w := range list {
		at := fmt.Sprintf("%s[%d]", base, i)
		n := vpn.Node{
			Name:     read(c, at+".name", w.Name, nodeName),
			ServerID: strings.ToLower(read(c, at+".serverID", w.ServerID, serverID)),
		}
		c.once(names, at+".name", n.Name, i, base)
		c.once(servers, at+".serverID", n.ServerID, i, base)
		out = append(out, n)
	}
	slices.SortFunc(out, func(a, b vpn.Node) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// once refuses a value that an earlier entry of the list has.
func (c check) once(seen map[string]int, field, value string, i int, base string) {
	if value == "" {
		return
	}
	if first, dup := seen[value]; dup {
		c.fail(field, refuse("%s is given twice, first in %s[%d]", quoted(value), base, first))
		return
	}
	seen[value] = i
}

func nodeName(s string) (string, *refusal) {
	if len(s) > 253 || !patterns.secretName.MatchString(s) || strings.Contains(s, "..") {
		return "", refuse("%s is not the name of a node", quoted(s))
	}
	return s, nil
}

func serverID(s string) (string, *refusal) {
	if !uuid.MatchString(s) {
		return "", refuse("%s is not a UUID", quoted(s)).with("the ID of the node's Nova server, as in its providerID")
	}
	return s, nil
}

// pool reads where service CIDRs come from: at least one of them.
func (c check) pool(text string) netip.Prefix {
	const field = "spec.serviceCIDRPool"
	if text == "" {
		text = estatev1alpha1.DefaultServiceCIDRPool
	}
	p := read(c, field, text, canonical)
	if p.IsValid() && (p.Bits() > 24 || p.Bits() < 8) {
		c.fail(field, refuse("%s is a /%d; the pool is a /8 to a /24, and each gateway takes a /24 of it", p, p.Bits()))
		return netip.Prefix{}
	}
	specials := vpn.Specials()
	if i := slices.IndexFunc(specials, p.Overlaps); p.IsValid() && i >= 0 {
		c.fail(field, refuse("%s holds %s, where no host can be reached", p, specials[i]))
		return netip.Prefix{}
	}
	return p
}

// internalSources reads who may use reverse exposures on our side. A source
// inside the pool would be somebody's virtual IP or road warrior.
func (c check) internalSources(list []string, pool netip.Prefix) []netip.Prefix {
	var out []netip.Prefix
	for i, text := range list {
		at := fmt.Sprintf("spec.internalSourceCIDRs[%d]", i)
		p := read(c, at, text, canonical)
		switch {
		case text == "":
			c.fail(at, refuse("an empty network"))
		case !p.IsValid():
		case slices.Contains(out, p):
			c.warn(at, refuse("%s is given twice", p))
		case pool.IsValid() && p.Overlaps(pool):
			c.fail(at, refuse("%s overlaps the service CIDR pool %s", p, pool).with("virtual IPs and road warriors live in the pool; name the sources on our side alone"))
		default:
			out = append(out, p)
		}
	}
	slices.SortFunc(out, netip.Prefix.Compare)
	return out
}

// sourceless tells whether the Estate names no internal sources, and none was meant:
// neither in a place that can't be read nor under a name that is a slip away.
func (c check) sourceless() bool {
	const name = "internalSourceCIDRs"
	v := c.root.Find("spec." + name)
	return c.root.Get("spec") != nil && (v == nil || v.Kind == decode.Null || v.Kind == decode.List && len(v.Items) == 0) &&
		!slices.ContainsFunc(c.broken, func(field string) bool {
			_, last := parentField(field)
			return within("spec."+name, field) || decode.Nearest(last, []string{name}) != ""
		})
}

// pod reads what every gateway pod gets.
func (c check) pod(w estatev1alpha1.GatewayPod) vpn.Pod {
	const base = "spec.gatewayPod"
	p := vpn.Pod{
		Image:              read(c, base+".image", w.Image, image),
		Resources:          raw(w.Resources, "{}"),
		Tolerations:        raw(w.Tolerations, "null"),
		PriorityClassName:  read(c, base+".priorityClassName", w.PriorityClassName, nodeName),
		MaxGatewaysPerNode: estatev1alpha1.DefaultMaxGatewaysPerNode,
		IPsecDataplane:     estatev1alpha1.DefaultDataplane,
		WireGuardDataplane: estatev1alpha1.DefaultDataplane,
	}
	if most := w.MaxGatewaysPerNode; most != nil {
		p.MaxGatewaysPerNode = int(*most)
		if *most < 1 {
			c.fail(base+".maxGatewaysPerNode", refuse("%d; a node that may carry gateways carries at least 1", *most))
		}
	}
	dataplane := one(estatev1alpha1.DataplaneKernel, estatev1alpha1.DataplaneUserspace)
	if w.IPsecDataplane != "" {
		p.IPsecDataplane = read(c, base+".ipsecDataplane", w.IPsecDataplane, dataplane)
	}
	if w.WireGuardDataplane != "" {
		p.WireGuardDataplane = read(c, base+".wireguardDataplane", w.WireGuardDataplane, dataplane)
	}
	return p
}

// image is a container image reference, as far as a look at it can tell.
func image(s string) (string, *refusal) {
	if strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' }) || len(s) > 512 {
		return "", refuse("%s is not an image reference", quoted(s))
	}
	return s, nil
}

// raw writes a part that is handed through as JSON; nothing stays nothing.
func raw(v any, nothing string) json.RawMessage {
	text, err := json.Marshal(v)
	if err != nil || string(text) == nothing || string(text) == "[]" {
		return nil
	}
	return text
}
