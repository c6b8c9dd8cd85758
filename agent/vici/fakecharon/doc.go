// Package fakecharon is an IKE daemon without tunnels, for tests of what speaks VICI.
//
// It serves the control protocol on a unix socket as charon 5.9 does: packets,
// message shapes, refusals in the same words, events in the order in which they
// arise. Behind it are connections, keys and SAs in memory, and peers that answer as
// a test says. It can hang, die leaving its socket behind, start again empty, refuse
// a command and drop its sessions.
package fakecharon
