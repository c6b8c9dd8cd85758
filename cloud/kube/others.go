package kube

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/state"
)

// Others are the estates whose labels gateways' Deployments carry, but for the one that
// is named. Usually none are read.
func (d *Driver) Others(ctx context.Context, estate string) (map[vpn.Owner]string, error) {
	k, _ := kindOf(kindDeployment)
	o := metav1.ListOptions{LabelSelector: state.LabelManagedBy + "=vpnctl," + others(estate), Limit: page}
	all := map[vpn.Owner]string{}
	for {
		list, err := d.meta.Resource(k.resource).List(ctx, o)
		if apierrors.IsResourceExpired(err) && o.Continue != "" {
			clear(all)
			o.Continue, o.Limit = "", 0
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("listing %s of other estates: %w", k.resource.GroupResource(), err)
		}
		for i := range list.Items {
			m := &list.Items[i]
			for _, owner := range owners(m) {
				all[owner] = m.Labels[state.LabelEstate]
			}
		}
		if o.Continue = list.GetContinue(); o.Continue == "" {
			return all, nil
		}
	}
}

// OtherLeader tells which process leads another estate than the one that is named, nil
// where none is alive: of a Lease that is held, it waits for a sign of its leader, for as
// long as the Lease lasts. The error wraps cloud.ErrForbidden where Leases may not be
// listed.
func (d *Driver) OtherLeader(ctx context.Context, estate string) (*Leader, error) {
	first, err := d.leaseOf(ctx, others(estate))
	if err != nil || first == nil {
		return nil, err
	}
	_, lasts := holderOf(first)
	for began := time.Now(); time.Since(began) < min(lasts, time.Minute); {
		if !pause(ctx, min(max(lasts/15, 10*time.Millisecond), time.Second)) {
			return nil, ctx.Err()
		}
		again, err := d.leaseOf(ctx, others(estate))
		if err != nil || again == nil {
			return nil, err
		}
		if again.UID != first.UID || again.ResourceVersion != first.ResourceVersion {
			return leaderOf(again), nil
		}
	}
	return nil, nil
}

// others selects what carries the label of an estate that isn't this one.
func others(estate string) string {
	return state.LabelEstate + "," + state.LabelEstate + "!=" + estate
}

// owners are whose an object is by its annotation; without one, whoever has its name.
func owners(m metav1.Object) []vpn.Owner {
	if o, known := vpn.ParseOwner(m.GetAnnotations()[resource.OwnerAnnotation]); known && o.Namespace == m.GetNamespace() {
		return []vpn.Owner{o}
	}
	var all []vpn.Owner
	for _, kind := range []string{vpn.KindVPNGateway, vpn.KindIPsecGateway} {
		all = append(all, vpn.Owner{Kind: kind, Namespace: m.GetNamespace(), Name: m.GetName()})
	}
	return all
}
