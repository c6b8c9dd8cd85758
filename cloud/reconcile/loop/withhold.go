package loop

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/cloud/reconcile/standing"
	ipsecv1alpha1 "github.com/vpnctl/vpnctl/crds/ipsec/v1alpha1"
	vpnv1alpha1 "github.com/vpnctl/vpnctl/crds/vpn/v1alpha1"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// withhold finds the gateways and links that are being deleted and are left whole all the
// same: that many are rarely meant, and whoever deletes a CRD asks for nobody's end.
//
//	the CRD of its kind is being deleted                nothing of it is removed
//	that can't be seen                                  nothing of it, in this round
//	that may not be seen                                is said, and is no reason
//	more are being deleted than MaxDeletes              nothing of those not yet begun
func (r *round) withhold(ctx context.Context) {
	r.kept = map[vpn.Owner]string{}
	going := map[string][]vpn.Owner{}
	for _, o := range slices.SortedFunc(maps.Keys(r.deleted), vpn.Owner.Compare) {
		if r.deleted[o] && r.owners[o].Held {
			going[o.Kind] = append(going[o.Kind], o)
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(going)) {
		why := r.withdrawn(ctx, kind)
		if why == "" {
			continue
		}
		for _, o := range going[kind] {
			r.kept[o] = why + ": nothing of it is removed; " + keeping(kind) + "; to remove it, delete it after that"
		}
		r.notice(plan.Notice{Message: why + ": nothing is removed of " + paths(going[kind])})
	}
	r.limit(going)
	r.complain()
}

// withdrawn says why no manifest of a kind counts as deleted; empty: they do.
func (r *round) withdrawn(ctx context.Context, kind string) string {
	switch uid, seen, err := r.standingDefinition(ctx, kind); {
	case err != nil:
		return "whether the CRD is being deleted can't be seen"
	case seen && uid == "":
		return "the CRD is being deleted"
	}
	return ""
}

// standingDefinition is the UID of the CRD of a kind; empty: none stands. It isn't seen
// where that may not be, which is said, or where nobody looks.
func (r *round) standingDefinition(ctx context.Context, kind string) (uid string, seen bool, err error) {
	if r.Definition == nil {
		return "", false, nil
	}
	uid, err = r.Definition(ctx, kind)
	switch {
	case errors.Is(err, cloud.ErrForbidden):
		r.notice(plan.Notice{
			Message: "whether the CRD of " + kind + "s is being deleted can't be seen: they are removed as if each had been deleted by itself: " + err.Error(),
			Hint:    "allow get of customresourcedefinitions, as vpnctl render controller does",
		})
		return "", false, nil
	case err != nil:
		r.trouble("looking at the CRD of", cloud.Manifest{Kind: kind}, err)
		return "", false, err
	}
	return uid, true, nil
}

// limit withholds those that have not begun to go, where more go than may.
func (r *round) limit(going map[string][]vpn.Owner) {
	most := cmp.Or(r.MaxDeletes, plan.DefaultMaxDeletes)
	var all, fresh []vpn.Owner
	for _, kind := range slices.Sorted(maps.Keys(going)) {
		for _, o := range going[kind] {
			if r.kept[o] != "" {
				continue
			}
			if all = append(all, o); r.begun[o] != r.owners[o].UID {
				fresh = append(fresh, o)
			}
		}
	}
	if len(all) <= max(most, 0) {
		for _, o := range fresh {
			r.begun[o] = r.owners[o].UID
		}
		return
	}
	if len(fresh) == 0 {
		return
	}
	one, many := "gateway", "gateways"
	if len(going[vpn.KindClusterLink]) > 0 {
		one, many = "gateway or link", "gateways and links"
	}
	why := fmt.Sprintf("%d %s are being deleted at once, more than %d", len(all), many, max(most, 0))
	if len(all) == 1 {
		why = "a " + one + " is being deleted, and none may be"
	}
	raise := fmt.Sprintf("vpnctl reconcile --max-deletes=%d, if that is meant", len(all))
	for _, o := range fresh {
		r.kept[o] = why + ": nothing of it is removed; " + raise + "; " + keeping(o.Kind)
	}
	r.notice(plan.Notice{Message: why + ": nothing is removed of " + paths(fresh), Hint: raise})
}

// keeping is how a gateway or a link stays whose manifest can't be kept any more.
func keeping(kind string) string {
	finalizer := vpnv1alpha1.Finalizer
	switch kind {
	case vpn.KindIPsecGateway:
		finalizer = ipsecv1alpha1.Finalizer
	case vpn.KindClusterLink:
		finalizer = ipsecv1alpha1.LinkFinalizer
	}
	return "to keep it, save its manifest, take the finalizer " + finalizer + " off, and write the manifest again once it is gone"
}

// paths names gateways and links.
func paths(all []vpn.Owner) string {
	var names []string
	for _, o := range all {
		names = append(names, o.Path())
	}
	return strings.Join(names, ", ")
}

// notice is shown on the page, for as long as rounds find it.
func (r *round) notice(n plan.Notice) { r.notices = append(r.notices, n) }

// complain logs what was noticed, where it differs from the round before.
func (r *round) complain() {
	said := map[string]bool{}
	for _, n := range r.notices {
		if said[n.Message] = true; !r.noticed[n.Message] {
			r.Log.Error(n.Message, "hint", n.Hint)
		}
	}
	r.noticed = said
	maps.DeleteFunc(r.begun, func(o vpn.Owner, uid string) bool { return r.owners[o].UID != uid })
}

// parted tells whether it was said of all of an owner that it is being deleted.
func parted(m cloud.Manifest) bool {
	for _, s := range standing.Stages(m.Kind) {
		if c, said := condition(m, s); said && !goes(c.Reason) {
			return false
		}
	}
	c, _ := condition(m, vpnv1alpha1.ConditionReady)
	return goes(c.Reason)
}
