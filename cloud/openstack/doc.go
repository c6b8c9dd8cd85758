// Package openstack observes an estate's cloud side and carries changes out on
// it: security groups, ports, floating IPs, routes, transit legs of links and the policies
// that share the transit network, through Keystone, Neutron and Nova. What stands in a
// customer's project is read and written by the customer's own credential, in a driver of
// its own.
//
// Observe makes a fixed handful of list calls and judges what came back with
// pure functions; Apply has one file for each kind of resource. Every write is
// built so that the process may end after any call: a create is looked up by
// name and description before it is made, an object is tagged right after it was
// made, and whatever is in place already is left alone.
//
// There is one policy for calls that fail, in the transport; only the creates,
// whose lost answer must be looked up, and the waits for Nova repeat anything
// themselves. No secret appears in an error or a log line.
package openstack
