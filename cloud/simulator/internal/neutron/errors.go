package neutron

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/vpnctl/vpnctl/cloud/simulator/internal/attr"
	"github.com/vpnctl/vpnctl/cloud/simulator/internal/wire"
)

func badRequest(message string, args ...any) error {
	return wire.Fail(http.StatusBadRequest, "HTTPBadRequest", message, args...)
}

// invalid is a 400 with a type of its own.
func invalid(typ, message string, args ...any) error {
	return wire.Fail(http.StatusBadRequest, typ, message, args...)
}

func conflict(typ, message string, args ...any) error {
	return wire.Fail(http.StatusConflict, typ, message, args...)
}

func missing(typ, message string, args ...any) error {
	return wire.Fail(http.StatusNotFound, typ, message, args...)
}

// disallowed is the 403 for a rule such as create_port:mac_address.
func disallowed(rule string) error {
	main, _, sub := strings.Cut(rule, ":")
	text := "rule:" + rule
	if sub {
		text = "(rule:" + main + " and rule:" + rule + ")"
	}
	return wire.Fail(http.StatusForbidden, "PolicyNotAuthorized", "%s is disallowed by policy", text)
}

func overQuota(resource string) error {
	return conflict("OverQuota", "Quota exceeded for resources: ['%s'].", resource)
}

// crash is the answer to what a real server does not catch.
func crash() error {
	return wire.Fail(http.StatusInternalServerError, "HTTPInternalServerError",
		"Request Failed: internal server error while processing your request.")
}

// refusal turns what attr found wrong with a body into Neutron's words. verb is create or update.
func refusal(p *attr.Problem, verb, resource string) error {
	method := map[string]string{"create": "POST", "update": "PUT"}[verb]
	switch {
	case p == nil:
		return nil
	case len(p.Unknown) > 0:
		return badRequest("Unrecognized attribute(s) '%s'", strings.Join(p.Unknown, ", "))
	case p.Forbidden != "":
		return disallowed(fmt.Sprintf("%s_%s:%s", verb, resource, p.Forbidden))
	case p.ReadOnly != "":
		return badRequest("Attribute '%s' not allowed in %s", p.ReadOnly, method)
	default:
		return badRequest("Invalid input for %s. Reason: %s.", p.Invalid, p.Reason)
	}
}
