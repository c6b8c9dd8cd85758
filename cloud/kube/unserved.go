package kube

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/resource"
)

// install says what brings a kind that a cluster may not know, and what else helps.
var install = map[string]string{
	"NetworkAttachmentDefinition": "install Multus, which brings it: without it no pod gets its second interface",
	"PodMonitor":                  "install the CRDs of the Prometheus operator, or set spec.monitoring.podMonitor of the Estate to false",
	"PrometheusRule":              "install the CRDs of the Prometheus operator, or set spec.monitoring.prometheusRule of the Estate to false",
}

// unserved says that a cluster doesn't know a kind.
func (k kind) unserved() string {
	return fmt.Sprintf("the cluster doesn't know the kind %s: there is no CustomResourceDefinition %s", k.name, k.resource.GroupResource())
}

// Unserved names the kinds of desired objects that the cluster doesn't know and that a
// gateway does without: it runs unwatched. Whether there are such is asked only of kinds
// of which an object is missing, by a list of one object. Who may not list them is told
// when they are written.
func (d *Driver) Unserved(ctx context.Context, desired, observed resource.Graph) (map[resource.Kind]plan.Notice, error) {
	missing := map[string]int{}
	for id, r := range desired {
		if r.Object != nil {
			if _, seen := observed[id]; !seen {
				missing[r.Object.Kind]++
			}
		}
	}
	unserved := map[resource.Kind]plan.Notice{}
	for _, k := range kinds {
		if !k.spare || missing[k.name] == 0 {
			continue
		}
		_, err := d.meta.Resource(k.resource).List(ctx, metav1.ListOptions{Limit: 1})
		switch {
		case err == nil, apierrors.IsForbidden(err):
		case apierrors.IsNotFound(err):
			unserved[resource.KubernetesKind(k.name)] = plan.Notice{Message: fmt.Sprintf("%s; objects that are left out: %d", k.unserved(), missing[k.name]), Hint: install[k.name]}
		default:
			return nil, fmt.Errorf("looking whether the cluster knows the kind %s: %w", k.name, err)
		}
	}
	return unserved, nil
}
