// Package reconcile runs the whole loop once: observe, allocate, render, plan
// and, when asked, apply. Every command and package controller go through it, so
// that there is one planner.
package reconcile
