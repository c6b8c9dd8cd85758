// Package vici speaks with charon, strongSwan's IKE daemon, over its control socket.
//
// The status container of a gateway pod uses it: a Session loads connections and
// keys, starts and ends SAs and lists them; Listen reports what changes in between
// and why a negotiation failed. The package decides nothing: which connection to
// load, and when to initiate, is package agent's.
//
// It is the home of the govici library, whose sessions have no deadlines. Here every
// call ends: at its context's end or after Session.Limit, whichever is first. A call
// that ends without charon's answer leaves a session whose next answer could be the
// belated one, so that session is closed, and every further call returns ErrGone.
//
// Package fakecharon beside it is a daemon without tunnels for tests.
package vici
