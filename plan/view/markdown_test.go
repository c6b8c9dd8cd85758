package view

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

func TestMarkdownAlwaysFits(t *testing.T) {
	for _, c := range []struct {
		gateways, lines int
		cut             bool
	}{{1, 3, false}, {1, 5_000, true}, {20, 20, false}, {200, 1, true}, {200, 400, true}, {2_000, 3, true}} {
		t.Run(fmt.Sprintf("%d gateways of %d lines", c.gateways, c.lines), func(t *testing.T) {
			var b bytes.Buffer
			if err := Markdown(&b, many(c.gateways, c.lines), Options{}); err != nil {
				t.Fatal(err)
			}
			out := b.String()
			if len(out) >= MarkdownLimit {
				t.Errorf("%d bytes", len(out))
			}
			if opened, closed := strings.Count(out, "<details>"), strings.Count(out, "</details>"); opened != closed {
				t.Errorf("%d blocks opened, %d closed", opened, closed)
			}
			if strings.Count(out, "```")%2 != 0 {
				t.Error("a fence is left open")
			}
			if got := strings.Contains(out, "_Cut to fit"); got != c.cut {
				t.Errorf("says that something was cut: %v, want %v", got, c.cut)
			}
		})
	}
}

func TestMarkdownNamesTwoHundredGateways(t *testing.T) {
	p := many(200, 3)
	p.Refusals, p.Notices, p.Access = nil, nil, nil
	var b bytes.Buffer
	if err := Markdown(&b, p, Options{}); err != nil {
		t.Fatal(err)
	}
	for _, o := range p.Owners {
		if !strings.Contains(b.String(), "| "+o.Owner.Path()+" ") {
			t.Errorf("%s is not in the table", o.Owner.Path())
		}
	}
}

func TestMarkdownFenceIsLongerThanAnyInside(t *testing.T) {
	var b bytes.Buffer
	if err := Markdown(&b, hostile(), Options{}); err != nil {
		t.Fatal(err)
	}
	inside := false
	for line := range strings.SplitSeq(b.String(), "\n") {
		switch {
		case strings.HasPrefix(line, "`````"):
			inside = !inside
		case strings.HasPrefix(line, "```"):
			t.Errorf("%q closes the block", line)
		case strings.HasPrefix(line, "</details>") && inside:
			t.Errorf("%q ends the fold inside the block", line)
		}
	}
}
