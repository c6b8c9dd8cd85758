package kube

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/state"
)

// counted are the fields of metadata that the server keeps by itself.
var counted = []string{"managedFields", "resourceVersion", "uid", "generation", "creationTimestamp", "selfLink", "deletionTimestamp", "deletionGracePeriodSeconds"}

// ours tells whether an object carries the estate's labels, and to which manifest it
// belongs; the owner is zero where the annotation is lost.
func ours(u *unstructured.Unstructured, estate string) (vpn.Owner, bool) {
	labels := u.GetLabels()
	if labels[state.LabelManagedBy] != "vpnctl" || labels[state.LabelEstate] != estate {
		return vpn.Owner{}, false
	}
	o, known := vpn.ParseOwner(u.GetAnnotations()[resource.OwnerAnnotation])
	if !known || o.Namespace != u.GetNamespace() || o.Gateway() && o.Name != labels[state.LabelGateway] || !o.Gateway() && o.Name != u.GetName() {
		return vpn.Owner{}, true
	}
	return o, true
}

// suffixes are what the names of a gateway's objects have behind its own.
var suffixes = []string{"", "-swanctl", "-wireguard", "-nat", "-nic1", vpn.GeneratedKeySuffix}

// bearsName tells whether a gateway's objects have such a name. What says that it is ours and
// is called otherwise is a copy that somebody made, labels and all: it is theirs.
func bearsName(o vpn.Owner, name string) bool {
	suffix, is := strings.CutPrefix(name, o.Name)
	return is && slices.Contains(suffixes, suffix)
}

// marks are what an object says of whose it is.
type marks struct{ managedBy, estate, gateway, owner string }

func marksOf(u metav1.Object) marks {
	labels := u.GetLabels()
	return marks{labels[state.LabelManagedBy], labels[state.LabelEstate], labels[state.LabelGateway], u.GetAnnotations()[resource.OwnerAnnotation]}
}

// bereft tells whether an object of ours lost its labels by another hand: it still says
// whose it is, no other estate has put its labels there, and the server's own record
// says that this program has written it.
func bereft(u metav1.Object, estate, owner string) bool {
	labels := u.GetLabels()
	if u.GetAnnotations()[resource.OwnerAnnotation] != owner || !oneOf(labels[state.LabelEstate], "", estate) || !oneOf(labels[state.LabelManagedBy], "", "vpnctl") {
		return false
	}
	return slices.ContainsFunc(u.GetManagedFields(), func(e metav1.ManagedFieldsEntry) bool { return e.Manager == Manager || e.Manager == keyMaker })
}

func oneOf(value string, of ...string) bool { return slices.Contains(of, value) }

// observed is an object as a graph holds it. The content is not set: what of it counts
// is known once there is a desired object.
func observed(k kind, u *unstructured.Unstructured) resource.Resource {
	return resource.Resource{
		ID:  idOf(k, u),
		Ref: string(u.GetUID()),
		Object: &resource.Object{
			APIVersion: k.apiVersion(), Kind: k.name, Namespace: u.GetNamespace(), Name: u.GetName(), Live: live(u),
		},
	}
}

func live(u *unstructured.Unstructured) *resource.Live {
	return &resource.Live{
		JSON: packed(u.Object), Managers: managers(u.GetManagedFields()),
		UID: string(u.GetUID()), Version: u.GetResourceVersion(), Deleting: u.GetDeletionTimestamp() != nil,
	}
}

// packed is an object without what the server keeps by itself, as resource.Live has it.
func packed(object map[string]any) []byte {
	data, err := json.Marshal(bare(object))
	if err != nil { // what came as JSON can be written as such
		return nil
	}
	return data
}

// bare is an object without what the server keeps by itself.
func bare(object map[string]any) map[string]any {
	value := maps.Clone(object)
	delete(value, "status")
	meta, _ := value["metadata"].(map[string]any)
	meta = maps.Clone(meta)
	for _, field := range counted {
		delete(meta, field)
	}
	value["metadata"] = meta
	return value
}

func managers(entries []metav1.ManagedFieldsEntry) []resource.Manager {
	var all []resource.Manager
	for _, e := range entries {
		if e.Subresource != "" || e.FieldsV1 == nil {
			continue
		}
		all = append(all, resource.Manager{
			Name:     e.Manager,
			Apply:    e.Operation == metav1.ManagedFieldsOperationApply,
			FieldsV1: string(e.FieldsV1.GetRawBytes()),
		})
	}
	return all
}
