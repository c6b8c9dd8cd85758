package openstack

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/resource"
)

const routersPath = "routers"

// applyRoute makes, changes or deletes routes to a service CIDR. Routes are only
// ever added and removed one by one; what others wrote into the router's list
// stays as it is.
func (v verb) applyRoute(ctx context.Context) error {
	switch v.Action {
	case plan.Create, plan.Update, plan.Replace:
		if _, err := netip.ParseAddr(v.After.Route.NextHop); err != nil {
			return fmt.Errorf("%s: the next hop is still %s", v.ID, v.After.Route.NextHop)
		}
	case plan.Delete:
	default:
		return v.unknown()
	}
	for _, id := range v.routersConcerned() {
		if err := v.at(id).settleRoutes(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// withdraw removes the gateway's routes through a port that is made anew. Left behind
// they would lead to whoever gets its address, and on another network nobody could tell
// any more that they were ours. A port to which routers may lead that can't be looked at
// stays.
func (v verb) withdraw(ctx context.Context, p port) error {
	routers, err := list[router](ctx, v.Driver, routersPath, url.Values{"project_id": {v.project}})
	if err != nil {
		return err
	}
	theirs, err := v.beyondAll()
	if err != nil {
		return err
	}
	for _, r := range slices.Concat(routers, theirs) {
		var hops []hop
		for _, h := range r.Routes {
			if to, via := h.parse(); slices.Contains(v.Before.Port.Pairs, to) && slices.Contains(p.addresses(), via) {
				hops = append(hops, h)
			}
		}
		if err := v.at(r.ID).edit(ctx, r, "remove_extraroutes", hops); err != nil {
			return err
		}
	}
	return nil
}

// routersConcerned are the routers before and after, usually the same one.
func (v verb) routersConcerned() []string {
	var ids []string
	for _, r := range []*resource.Resource{v.Before, v.After} {
		if r != nil && !slices.Contains(ids, r.Route.Router) {
			ids = append(ids, r.Route.Router)
		}
	}
	return ids
}

// settleRoutes removes the old next hops from a router and adds the new one. The
// old ones go first: beside the new one they would share its traffic.
func (v verb) settleRoutes(ctx context.Context, id string) error {
	r, found, err := read[router](ctx, v.Driver, routersPath, id)
	if err != nil {
		return err
	}
	if !found || r.Project != v.project {
		if v.After == nil || v.After.Route.Router != id {
			return nil // the routes went with it
		}
		return conflict("router %s does not exist in this project any more", id)
	}
	add, err := v.wanted(r)
	if err != nil {
		return err
	}
	if err := v.edit(ctx, r, "remove_extraroutes", v.unwanted(r)); err != nil {
		return err
	}
	return v.edit(ctx, r, "add_extraroutes", add)
}

// wanted is the planned route, if the router lacks it. A next hop of another
// hand for the same destination is a conflict.
func (v verb) wanted(r router) ([]hop, error) {
	if v.After == nil || v.After.Route.Router != r.ID {
		return nil, nil
	}
	want := hop{v.After.Route.Destination.String(), v.After.Route.NextHop}
	ours := v.hopsBefore(r.ID)
	for _, h := range r.Routes {
		if h == want {
			return nil, nil
		}
		if h.Destination == want.Destination && !slices.Contains(ours, h) {
			return nil, conflict("router %s has a route to %s via %s, which is not ours", r.label(), h.Destination, h.NextHop)
		}
	}
	return []hop{want}, nil
}

// unwanted are the routes before, as far as they are still there and not planned.
func (v verb) unwanted(r router) []hop {
	var keep hop
	if v.After != nil && v.After.Route.Router == r.ID {
		keep = hop{v.After.Route.Destination.String(), v.After.Route.NextHop}
	}
	var gone []hop
	for _, h := range v.hopsBefore(r.ID) {
		if h != keep && slices.Contains(r.Routes, h) {
			gone = append(gone, h)
		}
	}
	return gone
}

// hopsBefore are the routes of ours that the plan saw on a router.
func (v verb) hopsBefore(id string) []hop {
	if v.Before == nil || v.Before.Route.Router != id {
		return nil
	}
	var hops []hop
	for _, via := range append([]string{v.Before.Route.NextHop}, v.Before.Route.Stale...) {
		if via != "" {
			hops = append(hops, hop{v.Before.Route.Destination.String(), via})
		}
	}
	return hops
}

// edit adds or removes routes with the call that leaves all others alone.
func (v verb) edit(ctx context.Context, r router, verb string, hops []hop) error {
	if len(hops) == 0 {
		return nil
	}
	doing := "adding"
	if verb == "remove_extraroutes" {
		doing = "removing"
	}
	doing = fmt.Sprintf("%s %s router %s", doing, describe(hops, doing), r.label())
	err := error(nil)
	if v.plain() {
		err = v.rewrite(ctx, r.ID, verb, hops)
	} else {
		_, err = v.call(ctx, http.MethodPut, routersPath+"/"+r.ID+"/"+verb, body(hops), nil)
		if answered(err, http.StatusNotFound) && !typed(err, "RouterNotFound") {
			v.setPlain()
			err = v.rewrite(ctx, r.ID, verb, hops)
		}
	}
	switch {
	case typed(err, "RoutesExhausted"):
		return fmt.Errorf("%s: the router holds as many routes as this cloud allows: %w", doing, err)
	case err != nil:
		return fmt.Errorf("%s: %w", doing, err)
	}
	return nil
}

func body(hops []hop) map[string]any {
	return map[string]any{"router": map[string]any{"routes": hops}}
}

func describe(hops []hop, doing string) string {
	var texts []string
	for _, h := range hops {
		texts = append(texts, "route "+h.Destination+" via "+h.NextHop)
	}
	if doing == "removing" {
		return strings.Join(texts, ", ") + " from"
	}
	return strings.Join(texts, ", ") + " to"
}

var errOverwritten = errors.New("another client wrote the routes at the same moment")

// rewrite is edit for clouds without the atomic calls: read, write all, read
// back. Writers of other programs may still lose theirs to it, as to each other.
func (v verb) rewrite(ctx context.Context, id, verb string, hops []hop) error {
	for attempt := 1; ; attempt++ {
		r, found, err := read[router](ctx, v.Driver, routersPath, id)
		if err != nil {
			return err
		}
		if !found {
			return conflict("router %s does not exist any more", id)
		}
		routes := slices.DeleteFunc(slices.Clone(r.Routes), func(h hop) bool { return slices.Contains(hops, h) })
		if verb == "add_extraroutes" {
			routes = append(routes, hops...)
		}
		if sameRoutes(routes, r.Routes) {
			return nil
		}
		if attempt > tries {
			return fmt.Errorf("%w: %w", cloud.ErrConflict, errOverwritten)
		}
		if routes == nil {
			routes = []hop{}
		}
		if err := v.change(ctx, routersPath, id, map[string]any{"routes": routes}); err != nil {
			return err
		}
	}
}

func sameRoutes(a, b []hop) bool {
	if len(a) != len(b) {
		return false
	}
	for _, h := range a {
		if !slices.Contains(b, h) {
			return false
		}
	}
	return true
}

// plain tells whether the cloud was found to lack the atomic calls.
func (d *Driver) plain() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.noExtraRoutes
}

func (d *Driver) setPlain() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.noExtraRoutes = true
}
