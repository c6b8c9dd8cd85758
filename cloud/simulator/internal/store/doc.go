// Package store keeps what the simulated cloud holds: tables of immutable objects under one transaction at a
// time, in memory or in a directory.
//
// An object in a table is never changed: who wants another version copies it, changes the copy and puts that.
// So a transaction can be undone, an encoding can be kept with the version it shows, and what was read stays
// as it was.
//
// In a directory the state lies in state.json, a whole picture that is replaced atomically, and in the journal
// beside it, one line for each transaction since that picture. A process that is killed at any moment leaves
// either the state before a transaction or the one after it. Several processes may use one directory: each
// transaction holds a lock on it and first reads what others have added.
package store
