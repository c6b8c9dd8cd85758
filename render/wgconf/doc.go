// Package wgconf writes and reads the configuration of a WireGuard gateway's
// interface, in the syntax of wg(8) and without any private or preshared key.
//
// Package render compares two texts peer by peer with it, and the agent applies
// them incrementally, so that an unchanged peer keeps its session.
package wgconf
