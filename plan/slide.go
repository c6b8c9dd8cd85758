package plan

import "strings"

// slide moves every run of lines that come or go, among the equally good places for
// it, to where it begins with the line that stands least deep: a block that is added
// behind another one begins with its own head, and not with the end of the other.
//
//	  plant1 {              plant1 {
//	+   remote = a      →     remote = a
//	+ }                     }
//	+ plant2 {            + plant2 {
//	    remote = a        +   remote = a
//	  }                   + }
func slide(edits []edit) []edit {
	for from := 0; from < len(edits); {
		to := from + 1
		if edits[from].sign == ' ' {
			from = to
			continue
		}
		for to < len(edits) && edits[to].sign == edits[from].sign {
			to++
		}
		if alone(edits, from, to) {
			to = settleRun(edits, from, to)
		}
		from = to
	}
	return edits
}

// alone tells whether a run stands between lines that stay.
func alone(edits []edit, from, to int) bool {
	return (from == 0 || edits[from-1].sign == ' ') && (to == len(edits) || edits[to].sign == ' ')
}

// settleRun moves one run down as far as it goes, then up to the best place, and
// returns where it ends.
func settleRun(edits []edit, from, to int) int {
	sign := edits[from].sign
	for to < len(edits) && edits[to] == (edit{' ', edits[from].line}) {
		edits[from].sign, edits[to].sign = ' ', sign
		from, to = from+1, to+1
	}
	best, up := begins(edits[from].line), 0
	for n := 1; from-n >= 0 && edits[from-n] == (edit{' ', at(edits, from, to, n)}); n++ {
		if b := begins(edits[from-n].line); b < best {
			best, up = b, n
		}
	}
	for range up {
		from, to = from-1, to-1
		edits[from].sign, edits[to].sign = sign, ' '
	}
	return to
}

// at is the n-th last line of a run, counted from 1 and over again where it has fewer.
func at(edits []edit, from, to, n int) string {
	return edits[to-1-(n-1)%(to-from)].line
}

// begins is how little a line looks like the beginning of a block.
func begins(line string) int {
	bare := strings.TrimSpace(line)
	if bare == "" || strings.Trim(bare, "{}[](),;") == "" {
		return 1 << 20 // an end of something
	}
	return depth(line)
}
