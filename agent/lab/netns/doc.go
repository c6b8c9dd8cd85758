// Package netns is the ground that tests with real packets stand on: network
// namespaces, and what runs in them. All of it is built with the tag e2e and wants root.
//
//	Main        the tests of a package, in mount and process namespaces of their own
//	Namespace   one network, its processes and sockets; Wire joins two
//	Row         three networks in a row: a peer's, a gateway's and our own
//	Capture     what passes an interface
//	Stream      a connection that notes its pauses, to an Echo
//	Charon      a strongSwan daemon with its socket in a folder of the test
//
// Names and sockets are of one run alone, and so are its processes: any number of runs
// stand side by side, and when one ends, by whatever means, nothing of it is left.
package netns
