// Package resource describes things that exist or should exist: security
// groups, ports, floating IPs, routes and Kubernetes objects, each with an ID
// that is the same on both sides.
//
// A Graph is a set of resources. The desired graph comes from render, the
// observed one from cloud.Observe; plan compares the two. Resources are plain
// data: they hold no clients, no functions and no secrets, and survive JSON.
package resource
