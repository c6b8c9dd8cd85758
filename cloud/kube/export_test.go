package kube

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/vpnctl/vpnctl/cloud/kube/prints"
	"github.com/vpnctl/vpnctl/state"
)

// Print is what an object's changes are told by.
type Print func(metav1.Object) string

// The fingerprints, for tests.
var (
	OfManifest   Print = ofManifest
	OfDeployment Print = ofDeployment
	OfNode       Print = ofNode
)

// Prints is the store of fingerprints of a print, and Vault the one of Secrets, of which
// those of an estate are ours; each tells of changes.
func Prints(read Print, tell func()) cache.TransformingStore {
	return prints.New(read, tell).(cache.TransformingStore)
}

func Vault(estate string, named Named, tell func()) cache.TransformingStore {
	ours := func(o metav1.Object) bool { return o.GetLabels()[state.LabelEstate] == estate }
	return prints.OfSecrets(ours, named, tell).(cache.TransformingStore)
}
