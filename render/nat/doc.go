// Package nat writes and reads the nftables ruleset of a gateway: the translation
// of virtual IPs, who may reach them, and what keeps tunnel traffic in the tunnel.
//
// Of decides the one table that a gateway has, Table.Text writes it so that nft -f
// replaces it in one transaction and touches no other table, and Parse reads that
// text back. Targets named by a host are left open, as one empty map each, for the
// agent to fill in the same transaction.
//
// What happens to a packet, by hook:
//
//	prerouting   from the tunnel, or from an internal source: virtual IP → target
//	input        from the tunnel to the pod itself: drop
//	forward      drop, except translated flows that go on and what a peer was granted
//	postrouting  translated flows leave from the port's address (to a target of ours)
//	             or from the gateway's own .1 (to a target behind a peer)
//	sealed       to a peer's subnet, but not through the tunnel: drop
package nat
