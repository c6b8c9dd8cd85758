// Package readback holds the tests that every written file passes: what was written is
// read back as it was, and what nobody would write isn't read.
package readback
