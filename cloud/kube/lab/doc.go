// Package lab gives tests a real Kubernetes on 127.0.0.1: make e2e-kube. API server,
// etcd, controller manager and scheduler are the real ones, and so are Flux and Argo
// CD for tests that ask for them; kubelets are imitated by kwok, so that pods become
// ready, but run nothing. The programs are built from published Go modules by
// cloud/kube/testdata/lab.
//
//	l := lab.Start(t)
//	l.Apply(t, crds.YAML())
//	mark := l.Mark(t)
//	… run vpnctl plan with --kubeconfig l.Kubeconfig …
//	if w := l.Writes(t, mark); len(w) > 0 { … }
//
// It is built with the tag e2e alone. Tests share a few labs, of this package and of
// others: each has one to itself until it is over, and then puts right what it has
// changed for all, such as a node.
package lab
