package view

import (
	"bytes"
	"strings"
	"testing"
)

// TestLinesFit: what vpnctl words itself keeps to the width; texts that differ
// are shown as they are.
func TestLinesFit(t *testing.T) {
	for width, limit := range map[int]int{0: 80, 90: 90, 200: 100} {
		var b bytes.Buffer
		p := everything()
		p.Kept[0].Why = strings.Repeat("added by someone else ", 8)
		if err := Text(&b, p, Options{Header: header, Width: width, Verbose: true}); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(b.String()) {
			if n := length(strings.TrimSuffix(line, "\n")); n > limit && !strings.Contains(line, "second peer without") {
				t.Errorf("width %d: %d characters: %s", width, n, line)
			}
		}
	}
}
