// Package view puts a plan.Plan, and what became of it, into words: text for a
// terminal, markdown for a pull request, progress lines and the report of an
// apply.
//
// It is pure: the same plan gives the same bytes. Everything that came from a
// manifest, a cloud or a file is made harmless before it is printed, so that
// no name can move a cursor, colour a line or break out of a markdown block.
package view
