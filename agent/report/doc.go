// Package report is where the keys of a gateway come from and where its status
// goes to: the Kubernetes API (Kubernetes), or a folder (Files).
//
// The status half of the agent asks a Source for the Secrets that its peers name
// and hands a Report to a Sink each tick. What a Report becomes in the status of a
// VPNGateway, its VPNPeers or an IPsecGateway is in content.go; which object is
// written when is in schedule.go.
package report
