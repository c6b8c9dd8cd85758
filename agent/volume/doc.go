// Package volume is what the containers of a gateway pod hand to each other, and
// how they read what the kubelet mounts.
//
// Mount reads a mounted ConfigMap, always all keys of one generation. Volume is
// the memory volume that both halves of the agent see: keys go from the status
// container, which may read Secrets, to the dataplane container, which may set
// them; what the dataplane found and did goes the other way, without keys.
//
// Every file is written by one container and replaced whole, so a reader sees
// the old text or the new one. Both halves of the agent and their tests use it.
package volume
