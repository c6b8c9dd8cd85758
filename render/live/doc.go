// Package live makes an object as a cluster holds it comparable with the desired one.
//
// A live object has more than was asked for: defaults of the API server, fields of other
// managers. What counts is every desired field, and every field that vpnctl wrote once
// and no longer wants. Align writes just these, in the desired object's own order, so
// that equal means byte for byte, and a difference reads as lines do in a file.
package live
