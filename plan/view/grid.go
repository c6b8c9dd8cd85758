package view

import (
	"slices"
	"strings"
)

// grid is rows of cells below titles.
type grid struct {
	titles []string
	rows   [][]string
	widths []int
}

// fit measures the columns and leaves out some, in this order, as long as a line is
// longer than width; 0 is no limit.
func (t *grid) fit(width int, optional []string) {
	for {
		t.measure()
		total := 2 * (len(t.widths) - 1)
		for _, w := range t.widths {
			total += w
		}
		if width == 0 || total <= width || len(optional) == 0 {
			return
		}
		t.drop(optional[0])
		optional = optional[1:]
	}
}

func (t *grid) measure() {
	t.widths = make([]int, len(t.titles))
	for _, row := range append([][]string{t.titles}, t.rows...) {
		for i, cell := range row {
			t.widths[i] = max(t.widths[i], length(cell))
		}
	}
}

func (t *grid) drop(title string) {
	i := slices.Index(t.titles, title)
	if i < 0 {
		return
	}
	t.titles = slices.Delete(slices.Clone(t.titles), i, i+1)
	for j := range t.rows {
		t.rows[j] = slices.Delete(t.rows[j], i, i+1)
	}
}

func (t *grid) head() string {
	return strings.TrimRight(t.join(t.titles, func(_, cell string) string { return cell }), " ")
}

// line is a row, each cell painted after it got its width.
func (t *grid) line(i int, paint func(title, cell string) string) string {
	return t.join(t.rows[i], paint)
}

func (t *grid) join(cells []string, paint func(title, cell string) string) string {
	var b strings.Builder
	for i, cell := range cells {
		if i > 0 {
			b.WriteString("  ")
		}
		b.WriteString(paint(t.titles[i], pad(cell, t.widths[i])))
	}
	return b.String()
}
