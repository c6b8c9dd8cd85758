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
//	outer        the tunnel's own packets: not followed as connections, which anybody
//	             who can send some to the port could fill the kernel with
//	prerouting   from the tunnel, or from an internal source by the port: virtual IP → target
//	input        from the tunnel, or by the port, to the pod itself: drop, except the
//	             tunnel's own packets
//	forward      drop, except translated flows that a peer was granted, packet by packet
//	postrouting  translated flows leave from the port's address (to a target of ours)
//	             or from the gateway's own .1 (to a target behind a peer)
//	counted      one connection too many of one peer: drop
//	sealed       from the service CIDR or to a peer's subnet, but neither through the
//	             tunnel nor as an answer to an internal source: drop
package nat
