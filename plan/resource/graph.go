package resource

import (
	"maps"
	"slices"
)

// Graph is a set of resources by ID.
type Graph map[ID]Resource

// Add puts resources into the graph.
func (g Graph) Add(rs ...Resource) {
	for _, r := range rs {
		g[r.ID] = r
	}
}

// Merge puts all of another graph into this one.
func (g Graph) Merge(other Graph) { maps.Copy(g, other) }

// IDs are all IDs in order.
func (g Graph) IDs() []ID {
	return slices.SortedFunc(maps.Keys(g), ID.Compare)
}

// Of is the part of the graph that belongs to an owner (its text).
func (g Graph) Of(owner string) Graph {
	part := Graph{}
	for id, r := range g {
		if r.Owner == owner {
			part[id] = r
		}
	}
	return part
}
