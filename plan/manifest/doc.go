// Package manifest reads what users write into a vpn.Estate, or says everything
// that is wrong with it at once, each with file, line, column and field.
//
// The way of a manifest: files (source.go; kustomize.go, and origin.go for where
// built objects come from) become documents that know their positions (package
// decode), documents become objects of a known kind (object.go), objects become
// gateways, peers and links (gateway.go, peer.go, link.go, annotations.go, estate.go) while their
// own rules are checked, and then the rules between objects are checked
// (relations.go). Nothing here needs a cloud or a cluster, and the order of files,
// documents and lists without a meaning of their own makes no difference to the
// result.
//
// A result is given only when there is no error: half an estate would look like a
// wish to delete the other half. For the same reason a survey (survey.go) names
// whom manifests describe that were there and weren't read.
package manifest
