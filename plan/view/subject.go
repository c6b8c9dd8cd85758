package view

import (
	"cmp"
	"strings"

	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/resource"
)

// subject says in one line what a resource that comes is, or a link's or a service
// cluster's that goes: its address, its allocations, where it leads. Changes of what is
// there say it by attributes. Where there are several it says whose credential does it, and
// of a share who has attested that it may be.
func subject(c plan.Change, verbose bool) string {
	what := ""
	switch {
	case c.Action == plan.Delete && c.Linked():
		what = resourceLine(c.Before, verbose)
	case c.After != nil && c.Action != plan.Update:
		what = resourceLine(c.After, verbose)
	}
	switch {
	case c.Credential == "":
	case what == "":
		what = "by " + c.Credential
	default:
		what += ", by " + c.Credential
	}
	if c.After != nil && c.After.NetworkShare != nil && c.After.NetworkShare.Attested != "" {
		what += dot + "attested by " + c.After.NetworkShare.Attested
	}
	return what
}

// resourceLine is what a resource is.
func resourceLine(r *resource.Resource, verbose bool) string {
	switch {
	case r.SecurityGroup != nil:
		return allocations(r.SecurityGroup.Ledger, verbose)
	case r.Port != nil:
		return port(*r.Port)
	case r.FloatingIP != nil:
		return floatingIP(*r.FloatingIP)
	case r.TransitLeg != nil:
		return "address " + r.TransitLeg.Address + ", joins router " + cmp.Or(r.TransitLeg.RouterName, r.TransitLeg.Router)
	case r.NetworkShare != nil:
		return "shares network " + r.NetworkShare.Network + " with project " + r.NetworkShare.Project
	case r.Route != nil:
		return r.Route.Destination.String() + " via " + r.Route.NextHop + " on " + cmp.Or(r.Route.RouterName, r.Route.Router)
	}
	return ""
}

// allocations writes a ledger for people: "service CIDR 100.64.7.0/24 · erp .10".
// What is too much for a line or two is counted, unless all was asked for.
func allocations(ledger []resource.Entry, verbose bool) string {
	cidr := ""
	var joins []string
	var vips, addresses []string
	for _, e := range ledger {
		switch name, _, _ := strings.Cut(e.Name, "."); name {
		case "service-cidr":
			cidr = e.Value
		case "link-cidr":
			joins = append(joins, "service cluster "+e.Value)
		case "transit-ip":
			joins = append(joins, "transit IP "+e.Value)
		case "customer-project":
			joins = append(joins, "customer's project "+e.Value)
		case "vips":
			vips = append(vips, octets(e.Value)...)
		case "addresses":
			addresses = append(addresses, octets(e.Value)...)
		}
	}
	if cidr == "" {
		return strings.Join(joins, dot)
	}
	parts := []string{"service CIDR " + cidr}
	parts = append(parts, listed(vips, "virtual IP", verbose)...)
	parts = append(parts, listed(addresses, "tunnel IP", verbose)...)
	return strings.Join(parts, dot)
}

// octets turns "erp:10;web:11" into "erp .10", "web .11".
func octets(pairs string) []string {
	var all []string
	for _, pair := range strings.Split(pairs, ";") {
		name, octet, _ := strings.Cut(pair, ":")
		all = append(all, name+" ."+octet)
	}
	return all
}

const addressesInLine = 4

// listed is a list, or how long it is and how to see it.
func listed(all []string, noun string, verbose bool) []string {
	if len(all) <= addressesInLine || verbose {
		return all
	}
	return []string{count(len(all), noun) + ": -v"}
}

func port(p resource.Port) string {
	s := "address " + p.Address
	if p.Node != "" {
		s += ", node " + p.Node
	}
	if len(p.Pairs) > 0 {
		var pairs []string
		for _, pair := range p.Pairs {
			pairs = append(pairs, pair.String())
		}
		s += ", may also send from " + strings.Join(pairs, ", ")
	}
	return s
}

func floatingIP(f resource.FloatingIP) string {
	switch {
	case f.Pinned:
		return f.Address + ", the customer's: associated only"
	case f.Pool != "":
		return f.Address + ", from pool " + f.Pool
	}
	return f.Address
}
