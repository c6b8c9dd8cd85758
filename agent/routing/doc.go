// Package routing gives a gateway pod's second interface its own way out, and
// leads what is meant for the peers into the tunnel.
//
// A pod's main table belongs to the cluster's network. What is the gateway's is
// kept apart by rules, looked up in this order:
//
//	90   all but WireGuard's own packets   table 220   the peers' subnets, into the tunnel
//	99   WireGuard's own packets           table 100   the port's network and its router
//	100  from the port's address           table 100
//	101  come in by the port               table 100
//	102  come out of the tunnel            table 100
//
// Table 220 comes first, because table 100 has a default route, which would take a
// peer's answers out in the clear. Table 100 ends in a refusal, so that nothing of
// the gateway's leaves by the cluster's network while the port is down.
//
// Every function may be called at any time and again: what is right stays, what is
// missing comes back, and what this package made for an address, a network or an
// interface of before goes. Rules and routes of others are left alone. The
// dataplane half of the agent uses it, with CAP_NET_ADMIN in its network namespace.
package routing
