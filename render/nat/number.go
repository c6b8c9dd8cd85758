package nat

import (
	"fmt"
	"hash/fnv"
	"slices"
)

// numbers are by which the kernel knows the peers: each connection through an exposure
// is marked with one, as long as it lasts. A peer keeps its number when others come and
// go, and when its networks change.
type numbers map[string]uint32

func (in Input) numbers() numbers {
	var names []string
	for _, p := range in.Gateway.Peers {
		names = append(names, p.Name)
	}
	slices.Sort(names)
	all, taken := numbers{}, map[uint32]bool{0: true} // of a connection without a mark
	for _, name := range names {
		h := fnv.New32a()
		h.Write([]byte(name))
		n := h.Sum32()
		for taken[n] {
			n++
		}
		all[name], taken[n] = n, true
	}
	return all
}

// owner writes which peer a network is of.
func (n numbers) owner(s source) string { return fmt.Sprintf("%s : 0x%x", s.prefix, n[s.name]) }

// open are the peers and the virtual IPs that they may use, whatever the ports.
func open(exposures []flow, n numbers) Set {
	s := Set{Name: "open", Type: typeOpen}
	for _, f := range exposures {
		var done []string
		for _, from := range f.sources {
			if !slices.Contains(done, from.name) {
				done = append(done, from.name)
				s.add(from.note(f), "0x%x . %s", n[from.name], f.virtual)
			}
		}
	}
	return s
}

// reverseOpen are the virtual IPs that internal sources may use.
func reverseOpen(reverse []flow) Set {
	var granted []flow
	for _, f := range reverse {
		if len(f.sources) > 0 {
			granted = append(granted, f)
		}
	}
	return addressSet("reverse_open", granted)
}
