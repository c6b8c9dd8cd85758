package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// choice is a flag that takes one of few words, or was not given. Its enum has
// the empty word as well, which nobody should be offered.
type choice string

// Decode reads the word and names those that are known where it is none of them.
func (c *choice) Decode(ctx *kong.DecodeContext) error {
	var word string
	known := strings.FieldsFunc(ctx.Value.Enum, func(r rune) bool { return r == ',' })
	if err := ctx.Scan.PopValueInto("value", &word); err != nil {
		return fmt.Errorf("must be one of %s, but got nothing", strings.Join(known, ", "))
	}
	if word != "" && !slices.Contains(known, word) {
		return fmt.Errorf("must be one of %s but got %q", strings.Join(known, ", "), word)
	}
	*c = choice(word)
	return nil
}
