// Package alloc decides service CIDRs, virtual IPs, road-warrior addresses and
// nodes.
//
// What was allocated once is read back from the Ledger and never changes because
// another object came or went. Assign is a function from the estate and every
// ledger that can be seen to the ledgers that should be written.
package alloc
