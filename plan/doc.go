// Package plan decides what has to change: it compares the desired with the
// observed graph and says, for every change, why, in which order, and what it
// does to the people behind it.
//
// A Plan is pure data. Computing it touches nothing, printing it needs nothing,
// executing it decides nothing; reading it back from JSON gives the same plan.
package plan
