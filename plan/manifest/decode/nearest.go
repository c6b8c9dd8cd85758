package decode

import "strings"

// Nearest returns the candidate that a misspelt name most likely stands for, or
// "" where none is close. Upper and lower case count as equal.
func Nearest(name string, candidates []string) string {
	best, bound := "", 1+len(name)/4
	if len(name) > 64 {
		return ""
	}
	for _, c := range candidates {
		if d := distance(strings.ToLower(name), strings.ToLower(c)); d <= bound && (best == "" || d < bound) {
			best, bound = c, d
		}
	}
	return best
}

// distance counts the letters to insert, remove, replace or swap with their
// neighbour to make one word of the other.
func distance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			d := min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d = min(d, rows[i-2][j-2]+1)
			}
			rows[i][j] = d
		}
	}
	return rows[len(a)][len(b)]
}
