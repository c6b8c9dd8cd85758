// Package wireguard keeps a gateway pod's WireGuard device equal to its files.
//
// The dataplane half of the agent uses it: Of makes a Config of the mounted file and
// the keys that were handed over, Open finds or makes the device, Apply changes what
// differs and nothing else, Read says what came of it.
//
//	dataplane    kernel has WireGuard   /dev/net/tun   the device is
//	kernel       yes                    any            the kernel's, taken over if it is there
//	kernel       no                     yes            in this process
//	kernel       no                     no             an error that says so
//	userspace    any                    yes            in this process
//
// The kernel's device outlives the agent. One in this process ends with it: sessions
// start anew then. Both are driven through wgctrl, which finds the second kind by its
// socket in /run/wireguard; wg(8) in the pod sees them there too.
//
// No key but a public one is in an error, a log line or the text of any value of this
// package. It is the home of golang.zx2c4.com/wireguard and of wgctrl.
package wireguard
