// Command vpnctl plans and applies site-to-site VPN gateways from manifests.
//
// main.go holds the grammar; every command has a file of its own, which loads,
// calls and prints. Results go to stdout, everything else to stderr.
package main
