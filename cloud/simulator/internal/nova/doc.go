// Package nova answers as Nova does at microversion 2.79 to a client that looks at servers and puts ports on
// them: attaching is done when the answer comes, detaching is accepted at once and done later, whatever port
// it is asked for.
package nova
