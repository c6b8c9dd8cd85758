package kube

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Print is what an object's changes are told by.
type Print func(metav1.Object) string

// The fingerprints, for tests.
var (
	OfManifest   Print = ofManifest
	OfDeployment Print = ofDeployment
	OfNode       Print = ofNode
)
