package view

import (
	"bytes"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

func TestPlain(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"text stays":                        {"Zürich → 100 %", "Zürich → 100 %"},
		"an escape sequence is shown":       {"\x1b[31mred", `\x1b[31mred`},
		"a C1 control sequence is shown":    {"\u009b31m", `\x9b31m`},
		"line ends stay on the line":        {"a\r\nb\tc", `a\r\nb\tc`},
		"text direction can't be turned":    {"a\u202eb\u2066c", `a\u{202e}b\u{2066}c`},
		"invisible characters show":         {"a\u200bb\u2028c\ufeff", `a\u{200b}b\u{2028}c\u{feff}`},
		"bytes that are no UTF-8 are shown": {"\xff\xc3", `\xff\xc3`},
		"a deleted character is shown":      {"\x7f", `\x7f`},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, Plain(c.in)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func FuzzHarmless(f *testing.F) {
	f.Add("a\x1b[2J", "```\n</details>", "|\u202e\xff")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		o := vpn.Owner{Kind: vpn.KindVPNGateway, Namespace: a, Name: b}
		id, after := object(o, "ConfigMap", c)
		p := plan.Plan{Estate: a, Owners: []plan.Owner{{Owner: o, Peers: []string{c}}},
			Changes: []plan.Change{{ID: id, Owner: o, Action: plan.Update, After: after, Reason: b, Consequence: c, Interrupts: []string{a},
				Attributes: []plan.Attribute{{Name: c, Diff: a + "\n" + b}, {Name: b, Before: c, After: a}}}},
			Notices: []plan.Notice{{Message: c, Hint: a}}, Refusals: []plan.Refusal{{Message: b, Hint: c}},
			Access: []plan.Access{{Gateway: o, Peer: b, Exposure: c, After: &yes, Note: a}}}
		var text, markdown bytes.Buffer
		Text(&text, p, Options{Next: c})
		Markdown(&markdown, p, Options{})
		for _, out := range []string{text.String(), markdown.String()} {
			if !utf8.ValidString(out) {
				t.Errorf("not UTF-8: %q", out)
			}
			for _, r := range out {
				if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) {
					t.Errorf("%U was written: %q", r, out)
				}
			}
		}
		if got := strings.Count(markdown.String(), "<details>"); got != 1 {
			t.Errorf("%d folded diffs of one gateway:\n%s", got, markdown.String())
		}
	})
}
