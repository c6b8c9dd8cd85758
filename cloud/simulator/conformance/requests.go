package conformance

import (
	"net/http"
	"slices"
	"strings"
	"time"
)

var requests = []behaviour{
	{"answers carry the server's date and a request ID", func(s *scene) {
		for _, service := range []string{"network", "compute"} {
			path := map[string]string{"network": "/networks/" + s.network, "compute": "/servers/" + s.nodes[0]}[service]
			a := s.do(s.operator, "GET", service, path, nil)
			s.expect(a, http.StatusOK, "")
			date, err := http.ParseTime(a.header.Get("Date"))
			if err != nil || time.Since(date).Abs() > time.Minute {
				s.Errorf("%s: Date %q: %v", service, a.header.Get("Date"), err)
			}
			if !strings.HasPrefix(a.header.Get("X-Openstack-Request-Id"), "req-") {
				s.Errorf("%s: request ID %q", service, a.header.Get("X-Openstack-Request-Id"))
			}
			if id := a.header.Get("X-Compute-Request-Id"); service == "compute" && id != a.header.Get("X-Openstack-Request-Id") {
				s.Errorf("X-Compute-Request-Id is %q: %v", id, a.header)
			}
			if tag := a.header.Get("ETag"); tag != "" {
				s.Errorf("%s: ETag %q", service, tag)
			}
		}
	}},
	{"the extensions that vpnctl uses are listed", func(s *scene) {
		have := []string{}
		for _, e := range s.list(s.operator, "extensions", "") {
			have = append(have, e.text("alias"))
		}
		for _, alias := range []string{
			"port-security", "router", "standard-attr-tag", "extraroute", "extraroute-atomic",
			"allowed-address-pairs", "rbac-policies", "quotas", "quota_details", "external-net",
			"revision-if-match", "standard-attr-revisions", "security-group", "pagination", "sorting",
			"fip-port-details", "project-id", "standard-attr-timestamp", "standard-attr-description",
			"filter-validation",
		} {
			if !slices.Contains(have, alias) {
				s.Errorf("no extension %s", alias)
			}
		}
	}},
	{"what has no such ID is 404 of its own type", func(s *scene) {
		for collection, errorType := range map[string]string{
			"ports": "PortNotFound", "security-groups": "SecurityGroupNotFound", "networks": "NetworkNotFound",
			"subnets": "SubnetNotFound", "routers": "RouterNotFound", "floatingips": "FloatingIPNotFound",
			"security-group-rules": "SecurityGroupRuleNotFound", "rbac-policies": "RbacPolicyNotFound",
		} {
			s.expect(s.get(s.operator, "/"+collection+"/"+missing), 404, errorType)
			s.expect(s.delete(s.operator, "/"+collection+"/"+missing), 404, errorType)
		}
	}},
	{"an unknown collection is 404", func(s *scene) {
		s.expect(s.get(s.operator, "/nonsense"), 404, "")
	}},
	{"broken JSON is 400", func(s *scene) {
		s.expect(s.do(s.operator, "POST", "network", "/ports", "{"), 400, "")
	}},
	{"a body without what is required is 400", func(s *scene) {
		s.expect(s.try(s.operator, "ports", object{}), 400, "HTTPBadRequest")
	}},
	{"an unknown attribute is 400, in a create and in an update", func(s *scene) {
		s.expect(s.try(s.operator, "ports", object{"network_id": s.network, "nonsense": 1}), 400, "HTTPBadRequest")
		s.expect(s.update(s.operator, "ports", s.port(nil).id(), object{"nonsense": 1}), 400, "HTTPBadRequest")
	}},
	{"a name and a description have 255 characters at most", func(s *scene) {
		for _, field := range []string{"name", "description"} {
			s.port(object{field: strings.Repeat("x", 255)})
			long := object{"network_id": s.network, field: strings.Repeat("x", 256)}
			s.expect(s.try(s.operator, "ports", long), 400, "HTTPBadRequest")
		}
	}},
	{"an attribute of the server's own is 400 in an update", func(s *scene) {
		s.expect(s.update(s.operator, "ports", s.port(nil).id(), object{"status": "DOWN"}), 400, "HTTPBadRequest")
	}},
	{"another project's object is 404 to read, change and delete", func(s *scene) {
		for collection, id := range map[string]string{
			"ports": s.port(nil).id(), "security-groups": s.group().id(),
			"floatingips": s.floatingIP(nil).id(), "routers": s.router, "networks": s.network,
		} {
			s.expect(s.get(s.customer, "/"+collection+"/"+id), 404, "")
			s.expect(s.update(s.customer, collection, id, object{"description": "x"}), 404, "")
			s.expect(s.delete(s.customer, "/"+collection+"/"+id), 404, "")
		}
	}},
	{"an address over 8 kB is 414", func(s *scene) {
		query := strings.Repeat("&id="+missing, 400)
		s.expect(s.get(s.operator, "/ports?fields=id"+query), http.StatusRequestURITooLong, "")
	}},
	{"every object tells its project, revision, times, tags and description", func(s *scene) {
		for collection, o := range map[string]object{
			"ports": s.port(object{"description": "d"}), "security-groups": s.group(), "floatingips": s.floatingIP(nil),
			"routers": s.read(s.operator, "routers", s.router), "networks": s.read(s.operator, "networks", s.network),
			"subnets": s.read(s.operator, "subnets", s.subnet),
		} {
			s.same(collection+" project_id", s.operator.project, o.text("project_id"))
			s.same(collection+" tenant_id", s.operator.project, o.text("tenant_id"))
			for _, field := range []string{"created_at", "updated_at"} {
				if _, err := time.Parse("2006-01-02T15:04:05Z", o.text(field)); err != nil {
					s.Errorf("%s: %v", collection, err)
				}
			}
			for _, field := range []string{"revision_number", "tags", "description"} {
				if _, ok := o[field]; !ok {
					s.Errorf("%s has no %s", collection, field)
				}
			}
		}
	}},
}
