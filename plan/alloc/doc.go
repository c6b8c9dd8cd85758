// Package alloc decides service CIDRs, virtual IPs, road-warrior addresses, nodes
// and the addresses of transit legs.
//
// What was allocated once is read back from the Ledger, or a link's LinkLedger, and
// never changes because another object came or went. Assign is a function from the
// estate and every ledger that can be seen to the ledgers that should be written;
// AssignLegs is the same for links.
package alloc
