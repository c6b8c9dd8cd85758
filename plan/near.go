package plan

import (
	"maps"
	"slices"
	"strings"
)

// suggestion names the known names that a mistyped one may have meant; empty
// where none is near.
func suggestion(name string, known map[string]bool) string {
	best, near := max(2, len(name)/4)+1, []string(nil)
	for _, k := range slices.Sorted(maps.Keys(known)) {
		n := distance(name, k)
		if strings.HasSuffix(k, "/"+name) {
			n = 0
		}
		switch {
		case n < best:
			best, near = n, []string{k}
		case n == best && near != nil:
			near = append(near, k)
		}
	}
	if near == nil {
		return ""
	}
	return strings.Join(near[:min(3, len(near))], ", ") + "?"
}

// distance is how many letters must be put in, taken out or changed.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		above := row[0]
		row[0] = i + 1
		for j := range len(b) {
			n := above
			if a[i] != b[j] {
				n = min(above, row[j], row[j+1]) + 1
			}
			above, row[j+1] = row[j+1], n
		}
	}
	return row[len(b)]
}
