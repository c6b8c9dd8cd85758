// Package health says to Argo CD and Flux when a VPNGateway, a VPNPeer, an IPsecGateway
// or a ClusterLink is healthy.
//
// What counts is the condition Ready, which sums the others up, and that it speaks of the
// generation at hand. A tunnel that is down is no fault of what was synced: it has its
// alerts. Where nobody writes conditions, as with files that CI applies, a manifest is
// healthy as it stands, and the Deployment beside it says whether the pod runs.
//
//	object                                       Argo CD       Flux
//	being deleted                                Progressing   (Flux waits by itself)
//	held by reconcile, but without a condition   Progressing   in progress
//	a peer, which nothing holds, without one     Healthy       current
//	no condition at all                          Healthy       current
//	the condition is of an older generation      Progressing   in progress
//	True                                         Healthy       current
//	False                                        Degraded      failed
//	Unknown                                      Progressing   in progress
//	not held by reconcile, and no peer           as above      current
package health
