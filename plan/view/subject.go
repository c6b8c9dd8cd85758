package view

import (
	"cmp"
	"strings"

	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/resource"
)

// subject says in one line what a resource that comes is: its address, its
// allocations, where it leads. Changes of what is there say it by attributes.
func subject(c plan.Change) string {
	if c.After == nil || c.Action == plan.Update || c.Action == plan.Delete {
		return ""
	}
	switch r := c.After; {
	case r.SecurityGroup != nil:
		return allocations(r.SecurityGroup.Ledger)
	case r.Port != nil:
		return port(*r.Port)
	case r.FloatingIP != nil:
		return floatingIP(*r.FloatingIP)
	case r.Route != nil:
		return r.Route.Destination.String() + " via " + r.Route.NextHop + " on " + cmp.Or(r.Route.RouterName, r.Route.Router)
	}
	return ""
}

// allocations writes a ledger for people: "service CIDR 100.64.7.0/24 · erp 100.64.7.10".
func allocations(ledger []resource.Entry) string {
	cidr := ""
	var pairs []string
	for _, e := range ledger {
		name, _, _ := strings.Cut(e.Name, ".")
		switch name {
		case "service-cidr":
			cidr = e.Value
		case "vips", "addresses":
			pairs = append(pairs, strings.Split(e.Value, ";")...)
		}
	}
	if cidr == "" {
		return ""
	}
	parts := []string{"service CIDR " + cidr}
	base := cidr[:strings.LastIndexByte(cidr, '.')+1]
	for i, pair := range pairs {
		if i == allocationsInLine {
			parts = append(parts, count(len(pairs)-i, "more address"))
			break
		}
		name, octet, _ := strings.Cut(pair, ":")
		parts = append(parts, name+" "+base+octet)
	}
	return strings.Join(parts, " · ")
}

const allocationsInLine = 6

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
