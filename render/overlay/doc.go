// Package overlay puts an estate's kustomize patches over the rendered objects of a
// gateway. It is the only part of rendering that knows kustomize, and is reached only
// where an estate has patches.
//
// A patch may change what an object says, and remove an object, but neither rename
// one nor take its ownership labels. Apply tells which patches were for something: one
// that was for nothing in the whole estate is a slip, and never silently ignored.
package overlay
