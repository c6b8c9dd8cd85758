// Package yaml writes rendered objects as YAML: the same object, the same bytes,
// in the order in which its type declares the fields.
//
// A text of several lines becomes a literal block, so that a diff of a ConfigMap
// shows the line that changed. Everything that a YAML reader could take for
// something else than a string is quoted.
//
// It exists for its speed: an estate of 1,000 gateways is 13,000 objects, and a
// general library takes some twenty times as long for each. Tests and a fuzz
// target read back with such a library what was written.
package yaml
