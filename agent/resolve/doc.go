// Package resolve follows host names in DNS: the targets of exposures, and where
// WireGuard peers are.
//
// A Name keeps the address in use for as long as the name has it, so that a name
// with several addresses doesn't send half of the connections elsewhere at each
// look; and it keeps it when a look fails, because a name server that is away has
// not said that anything moved. It says when to look again. The dataplane half of
// the agent decides when that is done, and on which goroutine: a look waits for
// name servers.
//
// Resolver asks the name servers of resolv.conf(5) with its search list. Unlike the
// C library and Go's, it tells for how long an answer holds.
package resolve
