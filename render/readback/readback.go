package readback

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// written is a value that is written as text, or refuses to be.
type written interface{ Text() (string, error) }

// Same wants a value to be written and read back as it was. It returns the text.
func Same[T written](t *testing.T, want T, parse func(string) (T, error)) string {
	t.Helper()
	text, err := want.Text()
	if err != nil {
		t.Fatal(err)
	}
	same(t, want, text, parse)
	return text
}

// SameOrRefused is Same for values that need not be fit to be written.
func SameOrRefused[T written](t *testing.T, want T, parse func(string) (T, error)) {
	t.Helper()
	if text, err := want.Text(); err == nil {
		same(t, want, text, parse)
	}
}

func same[T written](t *testing.T, want T, text string, parse func(string) (T, error)) {
	t.Helper()
	got, err := parse(text)
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	comparable := cmp.Options{cmpopts.EquateComparable(netip.Addr{}, netip.Prefix{}), cmpopts.EquateEmpty()}
	if diff := cmp.Diff(want, got, comparable); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// Refused wants a value's text not to be read once a part of it, the first of each pair,
// has become the second.
func Refused[T written](t *testing.T, good T, parse func(string) (T, error), changes map[string][2]string) {
	t.Helper()
	whole := Same(t, good, parse)
	for sentence, change := range changes {
		t.Run(sentence, func(t *testing.T) {
			text := strings.Replace(whole, change[0], change[1], 1)
			if text == whole {
				t.Fatalf("%q is not in the text", change[0])
			}
			if _, err := parse(text); err == nil {
				t.Errorf("read without an error:\n%s", text)
			}
		})
	}
}
