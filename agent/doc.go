// Package agent is what runs in a gateway pod beside charon: two loops, in two
// containers that share a memory volume.
//
// DataplaneLoop may change the network and has no API token. It keeps the pod's
// routing, its nftables ruleset and its WireGuard device equal to the mounted files.
// StatusLoop has a token and may change nothing but charon's connections. It reads
// Secrets, hands keys over, initiates tunnels, and reports what is up.
//
//	ConfigMaps ──► DataplaneLoop ── dataplane.json ──► StatusLoop ──► status, metrics
//	    │          nft, routes, wg ◄── keys.json ───── Secrets, charon
//	    │                          ◄── status.json ───    │
//	    └─────────────────────────────────────────────────┘
//
// Each works towards what the files say, looks at everything again in its own time,
// and takes nothing back when it ends: packets pass while a container is restarted.
// The command "vpnctl agent" runs them.
package agent
