package store

import (
	"net/netip"
	"slices"
)

// indexes answer what would otherwise need a walk through a table on every call.
type indexes struct {
	addresses map[string]map[netip.Addr]string // subnet ID -> address -> port ID
	devices   map[string][]string              // device ID -> port IDs, sorted
	rules     map[string][]string              // security group ID -> rule IDs, sorted
	floating  map[string][]string              // port ID -> IDs of the floating IPs on it
	low       map[string]netip.Addr            // subnet ID -> an address below which all of the pools are taken
}

func (db *DB) makeIndexes() {
	db.indexes = indexes{
		addresses: map[string]map[netip.Addr]string{},
		devices:   map[string][]string{},
		rules:     map[string][]string{},
		floating:  map[string][]string{},
		low:       map[string]netip.Addr{},
	}
	db.Ports.change = db.portChanged
	db.Rules.change = func(old, new *Rule, had, has bool) {
		if had {
			drop(db.rules, old.SecurityGroupID, old.ID)
			db.SecurityGroups.Forget(old.SecurityGroupID)
		}
		if has {
			add(db.rules, new.SecurityGroupID, new.ID)
			db.SecurityGroups.Forget(new.SecurityGroupID)
		}
	}
	db.FloatingIPs.change = func(old, new *FloatingIP, had, has bool) {
		if had && old.PortID != nil {
			drop(db.floating, *old.PortID, old.ID)
		}
		if has && new.PortID != nil {
			add(db.floating, *new.PortID, new.ID)
		}
	}
}

func (db *DB) portChanged(old, new *Port, had, has bool) {
	if had {
		drop(db.devices, old.DeviceID, old.ID)
		for _, ip := range old.FixedIPs {
			if a, err := netip.ParseAddr(ip.IPAddress); err == nil {
				db.freed(ip.SubnetID, a)
			}
		}
		for _, id := range db.floating[old.ID] {
			db.FloatingIPs.Forget(id)
		}
	}
	if !has {
		return
	}
	if new.DeviceID != "" {
		add(db.devices, new.DeviceID, new.ID)
	}
	for _, ip := range new.FixedIPs {
		if db.addresses[ip.SubnetID] == nil {
			db.addresses[ip.SubnetID] = map[netip.Addr]string{}
		}
		if a, err := netip.ParseAddr(ip.IPAddress); err == nil {
			db.addresses[ip.SubnetID][a] = new.ID
		}
	}
}

// Holder returns the ID of the port that has the address in that subnet.
func (db *DB) Holder(subnet string, a netip.Addr) (string, bool) {
	id, ok := db.addresses[subnet][a]
	return id, ok
}

func (db *DB) freed(subnet string, a netip.Addr) {
	delete(db.addresses[subnet], a)
	if low, ok := db.low[subnet]; ok && a.Less(low) {
		db.low[subnet] = a
	}
}

// Lowest returns the lowest address of a range of a subnet that no port has.
func (db *DB) Lowest(subnet string, start, end netip.Addr) (netip.Addr, bool) {
	a := start
	if low, ok := db.low[subnet]; ok && a.Less(low) {
		a = low
	}
	for ; a.IsValid() && !end.Less(a); a = a.Next() {
		if _, taken := db.addresses[subnet][a]; !taken {
			return a, true
		}
	}
	return netip.Addr{}, false
}

// FullBelow notes that every address of the subnet's pools below a is taken. It makes Lowest fast.
func (db *DB) FullBelow(subnet string, a netip.Addr) { db.low[subnet] = a }

// PortsOf returns the ports of a device (a server, a router, a floating IP), by ID.
func (db *DB) PortsOf(device string) []*Port {
	var out []*Port
	for _, id := range db.devices[device] {
		if p, ok := db.Ports.Get(id); ok {
			out = append(out, p)
		}
	}
	return out
}

// RulesOf returns the rules of a security group, by ID.
func (db *DB) RulesOf(group string) []*Rule {
	var out []*Rule
	for _, id := range db.rules[group] {
		if r, ok := db.Rules.Get(id); ok {
			out = append(out, r)
		}
	}
	return out
}

// FloatingIPsOn returns the floating IPs that are associated with a port.
func (db *DB) FloatingIPsOn(port string) []*FloatingIP {
	var out []*FloatingIP
	for _, id := range db.floating[port] {
		if f, ok := db.FloatingIPs.Get(id); ok {
			out = append(out, f)
		}
	}
	return out
}

func add(m map[string][]string, key, id string) {
	i, found := slices.BinarySearch(m[key], id)
	if !found {
		m[key] = slices.Insert(m[key], i, id)
	}
}

func drop(m map[string][]string, key, id string) {
	i, found := slices.BinarySearch(m[key], id)
	if !found {
		return
	}
	if m[key] = slices.Delete(m[key], i, i+1); len(m[key]) == 0 {
		delete(m, key)
	}
}
