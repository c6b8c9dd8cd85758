// Package yaml writes rendered objects as YAML: the same object, the same bytes,
// in the order in which its type declares the fields.
//
// A text of several lines becomes a literal block, so that a diff of a ConfigMap
// shows the line that changed. Everything that a YAML reader could take for
// something else than a string is quoted.
package yaml
