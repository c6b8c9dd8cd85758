//go:build e2e

package main

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/vpnctl/vpnctl/cloud/kube/lab"
	"github.com/vpnctl/vpnctl/cloud/simulator"
)

// sight is what there is of an estate.
type sight struct {
	gateways    map[string]*unstructured.Unstructured
	deployments map[string]*unstructured.Unstructured
	configs     map[string]*unstructured.Unstructured
	nodes       map[string]string // server → node
	cloud       simulator.Snapshot
}

func (s *soak) look() sight {
	s.t.Helper()
	at := sight{
		gateways: s.manifests(), deployments: s.named("apps/v1", "Deployment", ""), configs: s.named("v1", "ConfigMap", ""),
		nodes: map[string]string{},
	}
	for name, n := range (&soak{controlled: &controlled{t: s.t, lab: s.lab}}).named("v1", "Node", "") {
		id, _, _ := unstructured.NestedString(n.Object, "spec", "providerID")
		at.nodes[id[strings.LastIndex(id, "/")+1:]] = name
	}
	var err error
	if at.cloud, err = s.sim.Snapshot(); err != nil {
		s.t.Fatal(err)
	}
	return at
}

// one is the object of a kind in the cloud that a gateway's name leads to.
func (at sight) one(kind, attribute, value string) simulator.Object {
	all := at.cloud.Of(kind).Only(func(o simulator.Object) bool { return o.Text(attribute) == value })
	if len(all) != 1 {
		return simulator.Object{}
	}
	return all[0]
}

// lies are conditions that say True of what is not so. While no controller runs, pods and
// nodes may have gone since, so only what nobody else touches is compared; in the end
// everything. One that speaks of an older manifest, or of a gateway that is on its way
// out, promises only that its objects are there.
func (s *soak) lies(all bool) []string {
	s.t.Helper()
	at := s.look()
	var lies []string
	for _, name := range slices.Sorted(maps.Keys(at.gateways)) {
		u := at.gateways[name]
		port := at.one("port", "name", "vpnctl-"+s.namespace+"-"+name)
		address, _, _ := unstructured.NestedString(u.Object, "status", "floatingIP")
		fip := at.one("floating-ip", "floating_ip_address", address)
		node, _, _ := unstructured.NestedString(u.Object, "status", "nodeName")
		says := func(condition string, so bool) {
			if c := lab.ConditionOf(u, condition); c.Status == "True" && !so {
				lies = append(lies, fmt.Sprintf("%s says %+v", name, c))
			}
		}
		says("PortReady", port.ID != "")
		says("ConfigRendered", at.configs[name+"-nat"] != nil)
		says("DeploymentReady", at.deployments[name] != nil)
		says("Ready", port.ID != "" && at.deployments[name] != nil)
		if u.GetDeletionTimestamp() == nil {
			says("FIPAttached", fip.ID != "" && fip.Text("port_id") == port.ID)
			says("RoutingReady", at.routed(u, port))
			if lab.ConditionOf(u, "ConfigRendered").ObservedGeneration == u.GetGeneration() {
				says("ConfigRendered", at.exposed(u))
			}
		}
		if all {
			says("PortAttached", port.Text("device_id") != "" && at.nodes[port.Text("device_id")] == node)
			says("DeploymentReady", available(at.deployments[name]))
		}
	}
	return lies
}

// exposed tells whether the ruleset leads to everything that a gateway's manifest exposes.
func (at sight) exposed(u *unstructured.Unstructured) bool {
	config := at.configs[u.GetName()+"-nat"]
	if config == nil {
		return false
	}
	rules, _, _ := unstructured.NestedMap(config.Object, "data")
	exposures, _, _ := unstructured.NestedSlice(u.Object, "spec", "exposures")
	for _, e := range exposures {
		target, _, _ := unstructured.NestedString(e.(map[string]any), "target", "address")
		if !regexp.MustCompile(regexp.QuoteMeta(target) + `\b`).MatchString(fmt.Sprint(rules)) {
			return false
		}
	}
	return len(exposures) > 0
}

func available(d *unstructured.Unstructured) bool {
	return lab.ConditionOf(d, "Available").Status == "True"
}

// routed tells whether the router leads a gateway's range to its port.
func (at sight) routed(u *unstructured.Unstructured, port simulator.Object) bool {
	cidr, _, _ := unstructured.NestedString(u.Object, "status", "serviceCIDR")
	for _, router := range at.cloud.Of("router") {
		routes, _ := router.Attributes["routes"].([]any)
		for _, r := range routes {
			r := r.(map[string]any)
			if r["destination"] == cidr && strings.Contains(fmt.Sprint(port.Attributes["fixed_ips"]), fmt.Sprint(r["nexthop"])) {
				return true
			}
		}
	}
	return false
}

// allotted is what a gateway was promised, as its status says it.
type allotted struct {
	name, cidr, address string
	vips                map[string]string
}

// unmoved wants every gateway that was seen before to have what it had then. An exposure
// that was taken away has no address any more.
func (s *soak) unmoved(first map[string]allotted) {
	s.t.Helper()
	for name, u := range s.manifests() {
		status, _ := u.Object["status"].(map[string]any)
		text := func(field string) string { value, _ := status[field].(string); return value }
		now := allotted{name, text("serviceCIDR"), text("floatingIP"), map[string]string{}}
		list, _ := status["virtualIPs"].([]any)
		for _, v := range list {
			v := v.(map[string]any)
			if exposure := fmt.Sprint(v["name"]); !strings.HasPrefix(exposure, "extra") {
				now.vips[exposure] = fmt.Sprint(v["ip"])
			}
		}
		was, seen := first[string(u.GetUID())]
		if !seen {
			was = now
		}
		moved := was.cidr != "" && was.cidr != now.cidr || was.address != "" && was.address != now.address
		for exposure, ip := range was.vips {
			moved = moved || now.vips[exposure] != ip
		}
		if moved {
			s.t.Errorf("%s moved from %v to %v", name, was, now)
		}
		if was.cidr == "" || was.address == "" || len(was.vips) == 0 {
			first[string(u.GetUID())] = now
		}
	}
}

// ownedKinds are all that a gateway may have in a cluster, next to its manifest.
var ownedKinds = [][2]string{
	{"v1", "ConfigMap"}, {"v1", "Secret"}, {"v1", "ServiceAccount"}, {"apps/v1", "Deployment"}, {"networking.k8s.io/v1", "NetworkPolicy"},
	{"rbac.authorization.k8s.io/v1", "Role"}, {"rbac.authorization.k8s.io/v1", "RoleBinding"}, {"k8s.cni.cncf.io/v1", "NetworkAttachmentDefinition"},
	{"monitoring.coreos.com/v1", "PodMonitor"}, {"monitoring.coreos.com/v1", "PrometheusRule"},
}

// owned are a gateway's objects in the cluster by kind and name, or with none those of
// all.
func (s *soak) owned(gateway string) map[string]*unstructured.Unstructured {
	s.t.Helper()
	selector := "app.kubernetes.io/managed-by=vpnctl"
	if gateway != "" {
		selector += ",vpn.bnerd.net/gateway=" + gateway
	}
	all := map[string]*unstructured.Unstructured{}
	for _, k := range ownedKinds {
		for name, u := range s.named(k[0], k[1], selector) {
			all[k[1]+" "+name] = u
		}
	}
	return all
}

// leaks are objects of ours that belong to nobody, or that a gateway has twice, or that
// it lacks.
func (s *soak) leaks() []string {
	s.t.Helper()
	at := s.look()
	var wrong []string
	count := map[string]map[string]int{"port": {}, "security-group": {}, "floating-ip": {}}
	for kind, of := range count {
		for _, o := range at.cloud.Of(kind) {
			if rest, ours := strings.CutPrefix(o.Text("description"), "vpnctl: "); ours {
				of[strings.TrimSuffix(rest, " of estate "+s.namespace)]++
			} else if strings.HasPrefix(o.Text("name"), "vpnctl-lock-") {
				wrong = append(wrong, "a lock: "+o.Text("description"))
			}
		}
		for name, u := range at.gateways {
			owner := u.GetKind() + "/" + s.namespace + "/" + name
			if of[owner] != 1 {
				wrong = append(wrong, fmt.Sprintf("%s has %d of kind %s", owner, of[owner], kind))
			}
			delete(of, owner)
		}
		for owner := range of {
			wrong = append(wrong, kind+" of "+owner)
		}
	}
	objects := map[string]int{}
	for key, u := range s.owned("") {
		owner := strings.Split(u.GetAnnotations()["vpn.bnerd.net/owner"], "/")
		if len(owner) != 3 || at.gateways[owner[2]] == nil || at.gateways[owner[2]].GetKind() != owner[0] {
			wrong = append(wrong, key+" belongs to nobody")
			continue
		}
		objects[owner[2]]++
	}
	for name := range at.gateways {
		if objects[name] < 8 {
			wrong = append(wrong, fmt.Sprintf("%s has %d objects", name, objects[name]))
		}
	}
	return wrong
}
