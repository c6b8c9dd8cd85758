// Package keystone answers as Keystone v3 does to a client that logs in with a password or an application
// credential, looks at its token, and reads projects.
//
// Tokens carry their content and a signature, as Fernet tokens do: the server keeps no list of them, and a
// token outlives a restart of the server on the same state.
package keystone
