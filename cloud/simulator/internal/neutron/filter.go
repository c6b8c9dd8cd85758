package neutron

import (
	"slices"
	"strings"

	"github.com/vpnctl/vpnctl/cloud/simulator/internal/attr"
	"github.com/vpnctl/vpnctl/cloud/simulator/internal/store"
)

// match says how an object stands to a filter.
type match int

const (
	unknown match = iota // there is no such filter
	no
	yes
)

func (k *collection[X, T]) filter(c *call, q *query) ([]T, error) {
	if err := k.checkFilters(c, q); err != nil {
		return nil, err
	}
	found := make([]T, 0, 16)
	for o := range k.table.All() {
		if !k.visible(c, o) || c.req.Hidden(o.Key()) {
			continue
		}
		seen := o
		if k.view != nil {
			seen = k.view(c, o)
		}
		if k.matches(c, q, seen) {
			found = append(found, o)
		}
	}
	return found, nil
}

// checkFilters refuses what no object could be filtered by.
func (k *collection[X, T]) checkFilters(c *call, q *query) error {
	var bad []string
	for name, values := range q.filters {
		if k.matchOne(c, k.empty(), name, values) == unknown {
			bad = append(bad, name)
		}
	}
	if len(bad) == 0 {
		return nil
	}
	slices.Sort(bad)
	return badRequest("[%s] is invalid attribute for filtering", strings.Join(bad, ", "))
}

func (k *collection[X, T]) matches(c *call, q *query, o T) bool {
	for name, values := range q.filters {
		if k.matchOne(c, o, name, values) != yes {
			return false
		}
	}
	return true
}

func (k *collection[X, T]) matchOne(c *call, o T, name string, values []string) match {
	if t, ok := any(o).(tagged); ok {
		if m := matchTags(*t.TagSet(), name, values); m != unknown {
			return m
		}
	}
	if k.match != nil {
		if m := k.match(o, name, values); m != unknown {
			return m
		}
	}
	have, ok := attr.Values(o, name, c.level())
	if !ok || name == "tags" {
		return unknown
	}
	for _, h := range have {
		for _, v := range values {
			if h == v || (h == "true" || h == "false") && strings.EqualFold(h, boolean(v)) {
				return yes
			}
		}
	}
	return no
}

func boolean(v string) string {
	switch v {
	case "1":
		return "true"
	case "0":
		return "false"
	}
	return v
}

func matchTags(have []string, name string, values []string) match {
	want := strings.Split(strings.Join(values, ","), ",")
	var ok bool
	switch name {
	case "tags":
		ok = hasAll(have, want)
	case "tags-any":
		ok = hasAny(have, want)
	case "not-tags":
		ok = !hasAll(have, want)
	case "not-tags-any":
		ok = !hasAny(have, want)
	default:
		return unknown
	}
	if ok {
		return yes
	}
	return no
}

// matchFixedIPs is the filter fixed_ips=ip_address=A, subnet_id=S, or ip_address_substr=T. Values of one kind
// are alternatives, the kinds must all hold.
func matchFixedIPs(p *store.Port, name string, values []string) match {
	if name != "fixed_ips" {
		return unknown
	}
	byKey := map[string][]string{}
	for _, v := range values {
		key, value, _ := strings.Cut(v, "=")
		byKey[key] = append(byKey[key], value)
	}
	for key, want := range byKey {
		if !slices.ContainsFunc(p.FixedIPs, func(ip store.FixedIP) bool { return matchFixedIP(ip, key, want) }) {
			return no
		}
	}
	return yes
}

func matchFixedIP(ip store.FixedIP, key string, want []string) bool {
	switch key {
	case "ip_address":
		return slices.Contains(want, ip.IPAddress)
	case "subnet_id", "subnet":
		return slices.Contains(want, ip.SubnetID)
	case "ip_address_substr":
		return slices.ContainsFunc(want, func(w string) bool { return strings.Contains(ip.IPAddress, w) })
	}
	return false
}
