package neutron

import (
	"net/http"
	"slices"

	"github.com/vpnctl/vpnctl/cloud/simulator/internal/wire"
)

// aliases are the API extensions that are on: those of a Neutron with the ML2 and the router plugin, as far as
// the simulator follows them. tag-ports-during-bulk-creation is off, as it is by default.
var aliases = []string{
	"address-scope", "allowed-address-pairs", "availability_zone", "binding", "default-subnetpools",
	"empty-string-filtering", "ext-gw-mode", "external-net", "extraroute", "extraroute-atomic",
	"filter-validation", "fip-port-details", "floatingip-pools", "ip-substring-filtering", "l3-port-ip-change-not-allowed",
	"net-mtu", "net-mtu-writable", "network_availability_zone", "pagination", "port-mac-address-regenerate",
	"port-security", "port-security-groups-filtering", "project-id", "provider", "quota_details", "quotas",
	"rbac-policies", "rbac-security-groups", "revision-if-match", "router", "router_availability_zone",
	"security-group", "security-groups-normalized-cidr", "security-groups-shared-filtering", "sorting",
	"standard-attr-description", "standard-attr-revisions", "standard-attr-tag", "standard-attr-timestamp",
	"stateful-security-group",
}

func extension(alias string) map[string]any {
	return map[string]any{"alias": alias, "name": alias, "description": "",
		"updated": "2016-01-01T10:00:00-00:00", "links": []any{}}
}

func (c *call) extensions(alias string) (*wire.Answer, error) {
	if c.req.Method != http.MethodGet {
		return nil, errMethod
	}
	if alias == "" {
		var all []any
		for _, a := range aliases {
			all = append(all, extension(a))
		}
		return wire.JSON(http.StatusOK, map[string]any{"extensions": all}), nil
	}
	if !slices.Contains(aliases, alias) {
		return nil, missing("ExtensionNotFound", "Extension with alias %s does not exist", alias)
	}
	return wire.JSON(http.StatusOK, map[string]any{"extension": extension(alias)}), nil
}
