// Package simulator is a cloud to try vpnctl on: Keystone v3, Neutron v2.0 and Nova 2.79 in one HTTP server on
// loopback, with a state that it keeps in memory or in a directory.
//
// It answers as the real services do: status codes and error bodies, project scoping, policies, quotas,
// revision numbers, conflicts over what is in use, changes that come later by themselves. A conformance suite
// runs against it and against the real services; where they differ, the simulator is wrong.
//
// The services stand below /identity, /network and /compute, as the catalog says. There are the projects
// operator and customer, and the clouds operator (member), operator-admin (admin) and customer (member).
//
// # Faults
//
// Options.Faults (vpnctl simulator --faults FILE) holds one JSON object a line; empty lines and lines that
// start with # are left out. Each says which calls it is about and what happens to them:
//
//	{"call": 7, "do": "fail", "status": 500}
//	{"match": {"method": "POST", "path": "/v2.0/ports"}, "nth": 2, "do": "drop"}
//	{"match": {"path": "/v2.0/ports/{id}"}, "times": 3, "do": "throttle", "status": 503, "retryAfter": 2}
//
// Which calls:
//
//	call      the n-th call since the start, counted from 1, with all calls but Keystone's
//	match     method and path; each may be left out. In a path, {id} stands for any one segment
//	nth       of the matching calls only the n-th
//	times     how many calls, from that one on; without nth and times every matching call
//	keystone  true: count and match Keystone's calls as well
//
// What happens (do):
//
//	fail      nothing is done; the answer is status (500), type and message in the service's own form
//	throttle  nothing is done; the answer is status (429) with Retry-After: retryAfter seconds (1)
//	delay     the call waits ms milliseconds and is then done as usual
//	hide      done as usual, but the next reads (1) reads don't find what was made
//	drop      done, but the connection is closed without an answer
//	cut       done, but the connection is closed in the middle of the answer
//	race      done as if another call came at the same moment: If-Match does not guard, and a rule may be made
//	          that exists already; both happen on real services
//	stop      done and answered, and every later call fails at the connection: a client that died
//
// Unknown keys are refused, and so are keys that have no effect on what is to be done.
package simulator
