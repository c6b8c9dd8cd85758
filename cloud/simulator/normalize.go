package simulator

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// chosenByServer are the attributes that differ between two runs that do the same.
var chosenByServer = map[string]bool{"id": true, "created_at": true, "updated_at": true, "created": true, "revision_number": true,
	"mac_address": true, "tenant_id": true, "sim:chosen": true, "provider:segmentation_id": true}

// holdsAddress are the attributes in which an automatic address may stand.
var holdsAddress = map[string]bool{"ip_address": true, "floating_ip_address": true, "fixed_ip_address": true, "nexthop": true,
	"remote_ip_prefix": true, "normalized_cidr": true}

// Normalize returns the snapshot without what the server chose: IDs, times, MAC addresses, revision numbers and
// addresses that nobody asked for are dropped, and references to them are replaced by names. Two runs that lead
// to the same cloud have equal normalised snapshots. Lists are sorted, for none of them has an order that means
// something.
func (s Snapshot) Normalize() Snapshot {
	n := newNames(s)
	var out Snapshot
	for _, o := range s {
		attributes := n.rewrite(o.Attributes).(map[string]any)
		id := n.of[o.ID]
		if id == "" {
			id = o.Kind
		}
		out = append(out, Object{Kind: o.Kind, ID: id, Attributes: attributes})
	}
	out.sort()
	return out
}

// names are what IDs and automatic addresses are replaced by.
type names struct {
	objects  map[string]Object // by ID
	of       map[string]string // ID -> name
	address  map[string]string // automatic address -> name
	replacer *strings.Replacer // the IDs within longer texts, such as tags
}

func newNames(s Snapshot) *names {
	n := &names{objects: map[string]Object{}, of: map[string]string{}, address: map[string]string{}}
	for _, o := range s {
		if o.Kind != "quota" { // which has the ID of its project, and no name of its own
			n.objects[o.ID] = o
		}
	}
	var pairs []string
	for _, o := range s {
		if _, named := n.objects[o.ID]; !named {
			continue
		}
		n.of[o.ID] = n.name(n.objects[o.ID], 0)
		pairs = append(pairs, o.ID, n.of[o.ID])
	}
	n.replacer = strings.NewReplacer(pairs...)
	for _, o := range s {
		n.addresses(o)
	}
	return n
}

// name describes an object by what its maker said about it.
func (n *names) name(o Object, depth int) string {
	label := cmp.Or(o.Text("name"), o.Text("description"))
	if depth > 3 {
		return o.Kind
	}
	refer := func(attribute string) string {
		if to, ok := n.objects[o.Text(attribute)]; ok {
			return n.name(to, depth+1)
		}
		return o.Text(attribute)
	}
	switch {
	case o.Kind == "project":
		return "project " + label
	case o.Kind == "port" && label == "":
		label = fmt.Sprintf("of %s on %s", cmp.Or(refer("device_id"), "nobody"), refer("network_id"))
	case o.Kind == "security-group-rule":
		return "rule of " + refer("security_group_id")
	case o.Kind == "rbac-policy":
		label = fmt.Sprintf("%s for %s", refer("object_id"), refer("target_tenant"))
	case o.Kind == "floating-ip" && label == "" && o.Attributes["sim:chosen"] == true:
		label = o.Text("floating_ip_address")
	}
	if project := refer("project_id"); project != "" {
		return fmt.Sprintf("%s %s (%s)", o.Kind, label, project)
	}
	return o.Kind + " " + label
}

// addresses notes the automatic addresses of a port or a floating IP.
func (n *names) addresses(o Object) {
	if o.Kind == "floating-ip" && o.Attributes["sim:chosen"] != true {
		n.address[o.Text("floating_ip_address")] = "address of " + n.of[o.ID]
	}
	if o.Kind != "port" {
		return
	}
	chosen, _ := o.Attributes["sim:chosen"].([]any)
	ips, _ := o.Attributes["fixed_ips"].([]any)
	for _, ip := range ips {
		a, _ := ip.(map[string]any)["ip_address"].(string)
		if !slices.Contains(chosen, any(a)) && n.address[a] == "" {
			n.address[a] = "address of " + n.of[o.ID]
		}
	}
}

func (n *names) rewrite(v any) any {
	switch v := v.(type) {
	case string:
		return n.replacer.Replace(v)
	case []any:
		out := make([]any, 0, len(v))
		for _, x := range v {
			out = append(out, n.rewrite(x))
		}
		slices.SortStableFunc(out, func(a, b any) int { return bytes.Compare(text(a), text(b)) })
		return out
	case map[string]any:
		out := map[string]any{}
		for k, x := range v {
			if chosenByServer[k] {
				continue
			}
			out[k] = n.rewrite(x)
			if text, ok := x.(string); ok && holdsAddress[k] {
				out[k] = n.rewriteAddress(text)
			}
		}
		return out
	}
	return v
}

func (n *names) rewriteAddress(s string) string {
	host, mask, _ := strings.Cut(s, "/")
	name, ok := n.address[host]
	switch {
	case !ok || mask != "" && mask != "32":
		return s
	case mask != "":
		return name + "/32"
	}
	return name
}
