package view

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWrap(t *testing.T) {
	for name, c := range map[string]struct {
		in   string
		want []string
	}{
		"what fits stays on one line":        {"a · b", []string{"a · b"}},
		"a list breaks between its parts":    {"one two · three · four", []string{"one two ·", "three · four"}},
		"a long part breaks between words":   {"one two three four · five", []string{"one two three", "four · five"}},
		"a word that is too long stays":      {"abcdefghijklmnopqrstuvw x", []string{"abcdefghijklmnopqrstuvw", "x"}},
		"nothing":                            {"", []string{""}},
		"letters count, not bytes":           {"ääääää öööööö", []string{"ääääää öööööö"}},
		"a line after a broken part goes on": {"a · bbbbb bbbbb bbbbb · c", []string{"a ·", "bbbbb bbbbb", "bbbbb · c"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := wrap(c.in, 14)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if strings.Join(strings.Fields(c.in), "") != strings.ReplaceAll(strings.Join(got, ""), " ", "") {
				t.Error("something was lost")
			}
		})
	}
}
