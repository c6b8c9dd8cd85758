package neutron

import (
	"encoding/json"
	"net/http"
	"net/netip"
	"slices"

	"github.com/vpnctl/vpnctl/cloud/simulator/internal/attr"
	"github.com/vpnctl/vpnctl/cloud/simulator/internal/store"
	"github.com/vpnctl/vpnctl/cloud/simulator/internal/wire"
)

// checkRoutes holds what must be true of a router's routes.
func checkRoutes(c *call, r *store.Router) error {
	near := connected(c.db, r)
	for i, route := range r.Routes {
		if err := checkRoute(near, route); err != nil {
			return err
		}
		if slices.Contains(r.Routes[:i], route) {
			return badRequest("Invalid input for routes. Reason: Duplicate hostroute '%s via %s'.", route.Destination, route.NextHop)
		}
	}
	if len(r.Routes) > c.RouteLimit {
		return invalid("RoutesExhausted", "Unable to complete operation for %s. The number of routes exceeds the maximum %d.", r.ID, c.RouteLimit)
	}
	return nil
}

func checkRoute(near map[netip.Prefix]string, route store.Route) error {
	dest, err := netip.ParsePrefix(route.Destination)
	if err != nil {
		return badRequest("Invalid input for routes. Reason: '%s' is not a valid CIDR.", route.Destination)
	}
	if dest != dest.Masked() {
		return badRequest("Invalid input for routes. Reason: '%s' is not a recognized CIDR, '%s' is recommended.", route.Destination, dest.Masked())
	}
	hop, err := netip.ParseAddr(route.NextHop)
	if err != nil {
		return badRequest("Invalid input for routes. Reason: '%s' is not a valid IP address.", route.NextHop)
	}
	reached := false
	for prefix, own := range near {
		if own == hop.String() {
			return invalid("InvalidRoutes", "Invalid format for routes: %s via %s, the nexthop is used by router.", route.Destination, route.NextHop)
		}
		reached = reached || prefix.Contains(hop)
	}
	if !reached {
		return invalid("InvalidRoutes", "Invalid format for routes: %s via %s, the nexthop is not connected with router.", route.Destination, route.NextHop)
	}
	return nil
}

// extraRoutes changes the routes in one step: nobody else's change is lost.
func (c *call) extraRoutes(r *store.Router, change func(have, given []store.Route) []store.Route) (*wire.Answer, error) {
	var in struct {
		Router struct {
			Routes []store.Route `json:"routes"`
		} `json:"router"`
	}
	if err := json.Unmarshal(c.req.Body, &in); err != nil {
		return nil, badRequest("Unable to find 'router' in request body")
	}
	r.Routes = change(r.Routes, in.Router.Routes)
	if err := checkRoutes(c, r); err != nil {
		return nil, err
	}
	c.db.Routers.Put(r)
	raw := attr.Append([]byte(`{"router": `), r, c.level(), nil)
	return wire.Bytes(http.StatusOK, append(raw, '}')), nil
}

func addRoutes(have, given []store.Route) []store.Route {
	out := slices.Clone(have)
	for _, r := range given {
		if !slices.Contains(out, r) {
			out = append(out, r)
		}
	}
	return out
}

func removeRoutes(have, given []store.Route) []store.Route {
	return slices.DeleteFunc(slices.Clone(have), func(r store.Route) bool { return slices.Contains(given, r) })
}
