// Package firewall puts a gateway's ruleset in force, tells whether it still is,
// and ends the connections that it no longer grants.
//
// Table.Apply hands the text that render/nat wrote to nft, together with what host
// names resolve to, as one transaction: packets meet the old ruleset or the new
// one. Table.Intact notices another hand. CutFlows then looks through the kernel's
// connections, because a connection that was let through stays let through,
// whatever becomes of the rule that did.
//
// All of it works in the network namespace of the calling thread and needs
// CAP_NET_ADMIN there. The dataplane half of the agent uses it.
package firewall
