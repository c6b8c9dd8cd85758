package kube

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vpnctl/vpnctl/plan"
)

var namespaces = gvr("", "v1", "namespaces")

// namespaces looks which there are, where a manifest isn't in the cluster yet: the
// others' namespaces are there. That they may not be listed is no error.
func (d *Driver) namespaces(ctx context.Context, s *sighting) error {
	fresh := false
	for id := range s.owners {
		_, stands := s.seen.Graph[id]
		fresh = fresh || !stands
	}
	if !fresh {
		return nil
	}
	all, o := map[string]bool{}, metav1.ListOptions{Limit: page}
	for {
		l, err := d.meta.Resource(namespaces).List(ctx, o)
		switch {
		case apierrors.IsForbidden(err):
			s.seen.Notices = append(s.seen.Notices, plan.Notice{
				Message: "namespaces can't be seen, so whether those of new gateways are there is not known: " + err.Error(),
				Hint:    "allow list of namespaces",
			})
			return nil
		case apierrors.IsResourceExpired(err) && o.Continue != "":
			o = metav1.ListOptions{}
			continue
		case err != nil:
			return fmt.Errorf("listing namespaces: %w", err)
		}
		for i := range l.Items {
			all[l.Items[i].Name] = true
		}
		if o.Continue = l.Continue; o.Continue == "" {
			s.seen.Namespaces = all
			return nil
		}
	}
}
