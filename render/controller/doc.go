// Package controller says what vpnctl reconcile needs to run in a cluster: a namespace,
// the Estate's file, an account with the rights of Rights and no other, two replicas of
// which one works, and what watches them.
//
// Rights is the one source of what the account may do. What each right is for stands
// beside it, and tests take them away one by one.
//
// Everything here is a function from an Install to text.
package controller
