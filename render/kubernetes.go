package render

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/render/pod"
	"github.com/vpnctl/vpnctl/render/yaml"
	"github.com/vpnctl/vpnctl/state"
)

// kubernetes adds the Kubernetes side: the manifests, which carry the status, the
// objects that make up the pod, and in a tree the file that lists them.
func (r *rendering) kubernetes() {
	objects, err := r.objects()
	if err != nil {
		r.refuse(err, "")
		return
	}
	before := r.lastOfCloud()
	var all []resource.ID
	for _, o := range objects {
		switch {
		case o.Kind == "Deployment":
		case r.inCluster() && resource.KubernetesKind(o.Kind).Manifest(): // before all, to tell in its status what fails
			all = append(all, r.addObject(o))
		default:
			all = append(all, r.addObject(o, before...))
		}
	}
	for _, o := range objects {
		if o.Kind == "Deployment" { // once its ConfigMaps are there
			all = append(all, r.addObject(o, slices.Concat(before, all)...))
		}
	}
	if r.in.Estate.Kubernetes.Target == vpn.TargetDirectory {
		r.addObject(r.kustomization(objects), all...)
	}
}

// inCluster tells whether the objects go to a cluster, and not into a tree of files.
func (r *rendering) inCluster() bool { return r.in.Estate.Kubernetes.Target == vpn.TargetCluster }

// objects are what stands in Kubernetes, patched, without the tree's own files.
func (r *rendering) objects() ([]resource.Object, error) {
	if err := r.checkPath(); err != nil {
		return nil, err
	}
	spec, err := r.spec()
	if err != nil {
		return nil, err
	}
	bodies, err := pod.Objects(spec)
	if err != nil {
		return nil, err
	}
	var objects []resource.Object
	for _, b := range bodies {
		text, err := yaml.Object(b.APIVersion, b.Kind, b.Body)
		if err != nil {
			return nil, err
		}
		objects = append(objects, r.object(b.APIVersion, b.Kind, b.Name, text))
	}
	if objects, err = r.patched(objects); err != nil {
		return nil, err
	}
	r.checkSizes(objects)
	manifests, err := r.manifests(spec.Labels, spec.Notes)
	if err != nil {
		return nil, err
	}
	key, err := r.key(spec.Labels, spec.Notes)
	return slices.Concat(objects, manifests, key), err
}

// key is the Secret of the private key that the manifest leaves to a cluster to make,
// without what it holds: that is never known here. Nothing makes one for a tree.
func (r *rendering) key(labels, notes map[string]string) ([]resource.Object, error) {
	w := r.in.Gateway.WireGuard
	if !r.inCluster() || w == nil || !w.GeneratedKey {
		return nil, nil
	}
	data, err := json.Marshal(map[string]any{"metadata": metav1.ObjectMeta{Name: w.PrivateKey.Name, Namespace: r.in.Gateway.Owner.Namespace, Labels: labels, Annotations: notes}})
	if err != nil {
		return nil, err
	}
	text, err := yaml.FromJSON("v1", "Secret", data)
	return []resource.Object{r.object("v1", "Secret", w.PrivateKey.Name, text)}, err
}

// checkPath refuses names that would leave the gateway's own folder.
func (r *rendering) checkPath() error {
	parts := []string{r.in.Gateway.Owner.Namespace, r.in.Gateway.Owner.Name}
	for _, m := range r.in.Gateway.Manifests {
		parts = append(parts, m.Name)
	}
	for _, part := range parts {
		if part == "" || strings.ContainsAny(part, `/\`) || strings.HasPrefix(part, ".") {
			return fmt.Errorf("%q can't be the name of a file or folder", part)
		}
	}
	return nil
}

func (r *rendering) spec() (pod.Spec, error) {
	config, err := r.config()
	if err != nil {
		return pod.Spec{}, err
	}
	rules, err := r.ruleset()
	if err != nil {
		return pod.Spec{}, err
	}
	return pod.Spec{
		Estate:  r.in.Estate,
		Gateway: r.in.Gateway,
		Labels:  state.Labels(r.in.Estate.Name, r.in.Gateway.Owner),
		Notes:   state.Annotations(r.in.Gateway.Owner),
		Node:    r.node,
		Port:    r.port,
		Config:  config,
		Rules:   rules,
	}, nil
}

// object places a text in the tree and puts the marker on its first line.
func (r *rendering) object(apiVersion, kind, name, text string) resource.Object {
	o := r.in.Gateway.Owner
	id := resource.ID{Kind: resource.KubernetesKind(kind), Namespace: o.Namespace, Name: name}
	return resource.Object{
		APIVersion: apiVersion, Kind: kind, Namespace: o.Namespace, Name: name,
		Path:    resource.TreePath(o.Path(), id),
		Content: state.Marker(r.in.Estate.Name, o) + "\n" + text,
	}
}

func (r *rendering) addObject(o resource.Object, needs ...resource.ID) resource.ID {
	id := resource.ID{Kind: resource.KubernetesKind(o.Kind), Namespace: o.Namespace, Name: o.Name}
	o.Unknown = r.unknown(o.Content)
	if _, twice := r.graph[id]; twice {
		r.refuse(fmt.Errorf("%s is there twice", id), "")
	}
	r.add(resource.Resource{ID: id, Object: &o}, slices.Clone(needs)...)
	return id
}

// unknown names the facts that a text still waits for: all that are missing, since
// the mark is the same for each.
func (r *rendering) unknown(content string) []string {
	if !strings.Contains(content, resource.Unknown) {
		return nil
	}
	missing := map[string]string{
		"floating IP": r.floatingIP, "MAC address": r.port.MAC, "port address": r.port.Address,
		"subnet": r.port.Subnet, "subnet gateway": r.port.Gateway, "node": r.node,
	}
	maps.DeleteFunc(missing, func(_, text string) bool { return text != resource.Unknown })
	return slices.Sorted(maps.Keys(missing))
}
