// Package reconcile runs the whole loop once: observe, allocate, render, plan
// and, when asked, apply. Every command and package loop go through it, so
// that there is one planner.
package reconcile
