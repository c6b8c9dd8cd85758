package plan

import (
	"cmp"
	"container/heap"
	"slices"

	"github.com/vpnctl/vpnctl/plan/resource"
)

// queue is every change in the order of owners and of building, and what waits
// for it.
type queue struct {
	changes []*Change
	open    []int   // needs that have not come yet
	next    [][]int // who waits for it
}

func (d *draft) queue() queue {
	var q queue
	for _, p := range d.sorted {
		q.changes = append(q.changes, p.changes...)
	}
	q.changes = append(q.changes, d.estate.changes...)
	places := make(map[*Change]int, len(q.changes))
	for _, p := range d.parties {
		for _, c := range p.changes {
			places[c] = p.order
		}
	}
	slices.SortFunc(q.changes, func(a, b *Change) int {
		return cmp.Or(cmp.Compare(places[a], places[b]), cmp.Compare(rank(a), rank(b)), a.ID.Compare(b.ID))
	})
	at := make(map[resource.ID]int, len(q.changes))
	for i, c := range q.changes {
		at[c.ID] = i
	}
	q.open, q.next = make([]int, len(q.changes)), make([][]int, len(q.changes))
	for i, c := range q.changes {
		for _, id := range slices.Concat(c.Needs, d.waits[c]) {
			if j, ok := at[id]; ok {
				q.open[i]++
				q.next[j] = append(q.next[j], i)
			}
		}
	}
	return q
}

// rank is the order in which a gateway is built, and unbuilt.
func rank(c *Change) int {
	if c.Action == Delete || c.Action == Release {
		return 10 + step(c)
	}
	switch c.ID.Kind {
	case resource.KindSecurityGroup:
		return 0
	case resource.KindPort, resource.KindNetworkShare:
		return 1
	case resource.KindFloatingIP, resource.KindTransitLeg:
		return 2
	case resource.KindRoute:
		return 3
	case resource.KindApplied:
		return 20
	}
	return 4
}

// run gives the changes in an order in which all needs come first: always the
// first one in the queue that can be done. What is in a circle, or behind one,
// is left.
func (q queue) run() (done []*Change, left []int) {
	var ready ints
	for i, n := range q.open {
		if n == 0 {
			ready = append(ready, i)
		}
	}
	heap.Init(&ready)
	open := slices.Clone(q.open)
	for len(ready) > 0 {
		i := heap.Pop(&ready).(int)
		done = append(done, q.changes[i])
		for _, j := range q.next[i] {
			if open[j]--; open[j] == 0 {
				heap.Push(&ready, j)
			}
		}
	}
	for i, n := range open {
		if n > 0 {
			left = append(left, i)
		}
	}
	return done, left
}

// circle finds changes that wait for each other, in the order of waiting; nil
// where there are none.
func (d *draft) circle() []*Change {
	q := d.queue()
	_, left := q.run()
	if len(left) == 0 {
		return nil
	}
	behind := map[int]bool{}
	for _, i := range left {
		behind[i] = true
	}
	var way []int
	seen := map[int]int{}
	for i := left[0]; ; {
		if start, ok := seen[i]; ok {
			way = way[start:]
			break
		}
		seen[i] = len(way)
		way = append(way, i)
		i = q.before(i, behind)
	}
	circle := make([]*Change, len(way))
	for n, i := range way {
		circle[n] = q.changes[i]
	}
	return circle
}

// before finds one that i waits for, among the given.
func (q queue) before(i int, among map[int]bool) int {
	for j := range q.changes {
		if among[j] && slices.Contains(q.next[j], i) {
			return j
		}
	}
	return i
}

// ints is a heap of places in the queue.
type ints []int

func (h ints) Len() int           { return len(h) }
func (h ints) Less(i, j int) bool { return h[i] < h[j] }
func (h ints) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *ints) Push(x any)        { *h = append(*h, x.(int)) }
func (h *ints) Pop() any {
	old := *h
	x := old[len(old)-1]
	*h = old[:len(old)-1]
	return x
}
