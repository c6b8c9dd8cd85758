// Package prints keeps of objects that are watched only what their changes are told by:
// thousands of them are watched, and none is looked into before a round looks at all.
// Package kube feeds its stores from the API server's watches.
package prints
