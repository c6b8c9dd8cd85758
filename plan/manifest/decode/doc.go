// Package decode turns the bytes of a manifest into values that know where they
// stand, and those into Go structs, strictly: an unknown field, a duplicate key,
// a number where a string is meant are problems with a position and a field
// path, and all of them are found in one pass.
//
// It knows nothing of vpnctl's kinds; plan/manifest does. It never panics and
// its work is bounded, whatever the input.
package decode
