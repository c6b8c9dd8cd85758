// Package lab proves the gateway pod on one machine, from the rendered Deployment,
// ConfigMaps and network attachments as they are: make e2e-dataplane. It holds tests
// alone, built with the tag e2e.
//
// The tests play everything around the pod:
//
//	kubelet, CNI     a network namespace with eth0 and the port's net1; containers as
//	                 processes with the container's command, environment, uid,
//	                 capabilities, read-only root, mounts, probes and restarts
//	API, DNS         on the pod's eth0 side, over TLS and with the rendered Role
//	Nova, Neutron    floating addresses translated one to one, so NAT traversal is real
//	customers        stock strongSwan (ESP in user space), stock WireGuard tools,
//	                 a host behind each
//
//	plant1 --- fw1 ---+                           +--- eth0 --- API, DNS
//	plant2 --- fw2 ---+  public   fabric   transit+--- net1 pod dc1
//	site ----- wg1 ---+---------- router ---------+--- net1 pod remote
//	laptops ----------+             |             +--- host
//	stranger ---------+          services
//
// Not imitated: the seccomp profile, resource limits (peak memory is compared with
// them), and security groups, so that more reaches the pod than in reality.
//
// What is needed for that, and for other tests with real packets, is in netns; when the
// tests end, by whatever means, nothing is left.
package lab
