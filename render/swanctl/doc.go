// Package swanctl writes and reads the strongSwan configuration of an IPsec
// gateway.
//
// Of returns the connections that a gateway should have, Config.Text writes them
// as swanctl.conf, and Parse reads that text back: package render compares two
// texts connection by connection with it, and the agent loads them over VICI. The
// file holds connections and nothing secret; a value that could break out of its
// place is refused by the writer.
package swanctl
