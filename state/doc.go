// Package state says what is ours and what was allocated: the tags of OpenStack
// objects, the labels of Kubernetes objects, names and descriptions where neither
// exists, the ledger written on tags, and the lock that makes one writer of an
// estate.
//
// There is no state file. Drivers write and read these marks; nothing here talks
// to a cloud itself.
package state
