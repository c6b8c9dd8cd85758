package plan

import (
	"slices"
	"strings"
)

// context is how many unchanged lines stand around a difference.
const context = 2

// farthest is how many lines may differ before a text counts as another one.
const farthest = 400

// edit is a line of a diff: ' ' on both sides, '-' only before, '+' only after.
type edit struct {
	sign byte
	line string
}

// unified writes the differences of two texts. Each hunk is headed by the place
// it stands in, found by indentation: "@@ data.swanctl.conf.connections.plant2".
func unified(before, after string) string {
	edits := slide(script(lines(before), lines(after)))
	var b strings.Builder
	for start := 0; start < len(edits); {
		from, to, ok := hunk(edits, start)
		if !ok {
			break
		}
		b.WriteString(strings.TrimRight("@@ "+place(edits, from), " ") + "\n")
		for _, e := range edits[from:to] {
			b.WriteByte(e.sign)
			b.WriteString(e.line + "\n")
		}
		start = to
	}
	return b.String()
}

func lines(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(s, "\n"), "\n")
}

// hunk finds the next run of differences with its context.
func hunk(edits []edit, start int) (from, to int, ok bool) {
	first := start
	for first < len(edits) && edits[first].sign == ' ' {
		first++
	}
	if first == len(edits) {
		return 0, 0, false
	}
	last := first
	for i := first; i < len(edits) && i-last <= 2*context; i++ {
		if edits[i].sign != ' ' {
			last = i
		}
	}
	return max(start, first-context), min(len(edits), last+context+1), true
}

// place names the lines that enclose the hunk's first difference.
func place(edits []edit, from int) string {
	first := from
	for edits[first].sign == ' ' {
		first++
	}
	var names []string
	at := depth(edits[first].line)
	for i := first - 1; i >= 0 && at > 0; i-- {
		line := edits[i].line
		if edits[i].sign == '+' || strings.TrimSpace(line) == "" || depth(line) >= at {
			continue
		}
		at = depth(line)
		if name := heading(line); name != "" {
			names = append([]string{name}, names...)
		}
	}
	return strings.Join(names, ".")
}

// depth is how deep a line stands. An item of a YAML list stands below a key that is
// indented as it is.
func depth(line string) int {
	n := 2 * indent(line)
	if strings.HasPrefix(strings.TrimSpace(line), "- ") {
		n++
	}
	return n
}

// heading is what a line calls the lines below it, in YAML, JSON, swanctl.conf
// or nft: `"peers": [` is peers, "- name: web" is web. A bracket alone calls them
// nothing.
func heading(line string) string {
	name := strings.TrimRight(strings.TrimPrefix(strings.TrimPrefix(strings.TrimSpace(line), "- "), "name: "), " {[|:=-")
	if bare, ok := strings.CutPrefix(name, `"`); ok {
		return strings.TrimSuffix(bare, `"`)
	}
	return name
}

func indent(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }

// script is a shortest list of edits that leads from one text to the other
// (Myers). Texts that have little in common are replaced as a whole.
func script(a, b []string) []edit {
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	edits := mark(nil, ' ', a[:head])
	edits = append(edits, middle(a[head:len(a)-tail], b[head:len(b)-tail])...)
	return mark(edits, ' ', a[len(a)-tail:])
}

func mark(edits []edit, sign byte, lines []string) []edit {
	for _, line := range lines {
		edits = append(edits, edit{sign, line})
	}
	return edits
}

func middle(a, b []string) []edit {
	trace, ok := reach(a, b)
	if !ok {
		return mark(mark(nil, '-', a), '+', b)
	}
	var edits []edit
	x, y := len(a), len(b)
	for d := len(trace) - 1; d >= 0; d-- {
		v, k := trace[d], x-y
		from := v.origin(d, k)
		px := v.at(from)
		py := px - from
		for x > px && y > py {
			x, y = x-1, y-1
			edits = append(edits, edit{' ', a[x]})
		}
		switch {
		case d == 0:
		case x == px:
			edits = append(edits, edit{'+', b[py]})
		default:
			edits = append(edits, edit{'-', a[px]})
		}
		x, y = px, py
	}
	slices.Reverse(edits)
	return edits
}

// front is how far into the first text each diagonal reaches; diagonal k is x-y.
type front []int

func (v front) at(k int) int     { return v[len(v)/2+k] }
func (v front) set(k int, x int) { v[len(v)/2+k] = x }

// origin is the diagonal that step d on diagonal k came from.
func (v front) origin(d, k int) int {
	if k == -d || k != d && v.at(k-1) < v.at(k+1) {
		return k + 1
	}
	return k - 1
}

// reach gives the fronts before each step of a shortest script; false when it
// would be longer than farthest.
func reach(a, b []string) ([]front, bool) {
	limit := min(len(a)+len(b), farthest)
	v := make(front, 2*limit+3)
	var trace []front
	for d := 0; d <= limit; d++ {
		trace = append(trace, slices.Clone(v))
		for k := -d; k <= d; k += 2 {
			from := v.origin(d, k)
			x := v.at(from)
			if from < k {
				x++
			}
			for x < len(a) && x-k < len(b) && a[x] == b[x-k] {
				x++
			}
			v.set(k, x)
			if x >= len(a) && x-k >= len(b) {
				return trace, true
			}
		}
	}
	return nil, false
}
