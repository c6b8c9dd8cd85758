package render

import (
	"reflect"
	"slices"

	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/render/swanctl"
)

// judgeConnections compares two swanctl.conf, but for the peers that get another name.
func judgeConnections(before, after string, names map[string]string) plan.Verdict {
	old, now, unread := both(before, after, swanctl.Parse, connections)
	if unread != nil {
		return unread.sum()
	}
	var all verdicts
	renamed := values(names)
	for _, c := range now.Connections {
		was, there := old.Connection(c.Name)
		if renamed[c.Name] {
			continue
		}
		if !there {
			all.add(plan.ImpactReload, c.Name, c.Name+" is added, the other tunnels stay up")
			continue
		}
		judgeConnection(&all, was, c)
	}
	for _, c := range old.Connections {
		if _, there := now.Connection(c.Name); !there && names[c.Name] == "" {
			all.add(plan.ImpactCustomer, c.Name, c.Name+" loses its tunnel for good: its side must change or stop")
		}
	}
	return all.sum()
}

// values are the names that peers get instead of others.
func values(names map[string]string) map[string]bool {
	all := make(map[string]bool, len(names))
	for _, is := range names {
		all[is] = true
	}
	return all
}

func connections(c swanctl.Config) []string {
	var names []string
	for _, one := range c.Connections {
		names = append(names, one.Name)
	}
	return names
}

// judgeConnection names the worst of a connection's changes.
func judgeConnection(all *verdicts, was, now swanctl.Connection) {
	name := now.Name
	switch {
	case reflect.DeepEqual(was, now):
	case was.LocalID != now.LocalID:
		all.add(plan.ImpactCustomer, name, "the gateway's identity becomes "+now.LocalID)
	case was.RemoteID != now.RemoteID:
		all.add(plan.ImpactCustomer, name, name+" must identify itself as "+now.RemoteID)
	case local(was) != local(now):
		all.add(plan.ImpactCustomer, name, "the service CIDR becomes "+local(now))
	case was.Address != now.Address || !slices.Equal(was.Proposals, now.Proposals) || !sameSelectors(was, now):
		all.add(plan.ImpactReconnect, name, name+" renegotiates")
	default:
		all.add(plan.ImpactReload, name, "timers of "+name+" are in force after its next re-authentication")
	}
}

// local is the service CIDR of a connection.
func local(c swanctl.Connection) string {
	if len(c.Children) == 0 {
		return ""
	}
	return c.Children[0].Local.String()
}

// sameSelectors compares all of the children but their timers.
func sameSelectors(a, b swanctl.Connection) bool {
	return slices.EqualFunc(a.Children, b.Children, func(x, y swanctl.Child) bool {
		x.Lifetime, y.Lifetime = 0, 0
		return reflect.DeepEqual(x, y)
	})
}
