package main

import (
	"fmt"

	"github.com/vpnctl/vpnctl/cloud/kube"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// clusterAccess are the flags that choose a cluster.
type clusterAccess struct {
	Kubeconfig string `placeholder:"FILE" help:"Which cluster, where the Estate's target is one. Default: $KUBECONFIG, else ~/.kube/config, else the pod's own." type:"path"`
	Context    string `placeholder:"NAME" help:"Entry of the kubeconfig. Default: its current one."`
}

// connect reaches the cluster, and says at which address. It asks nobody anything yet.
func (a clusterAccess) connect(o kube.Options) (*kube.Driver, string, error) {
	return kube.Connect(kube.Access{Kubeconfig: a.Kubeconfig, Context: a.Context, UserAgent: userAgent()}, o)
}

// clusterSide are the flags of commands that compare manifests with a cluster.
type clusterSide struct {
	clusterAccess
	OperatorStopped bool `help:"No operator looks after these gateways any more, so what it made, in the cloud and in a cluster, is taken over. Needless where its Deployment is found in the cluster, at zero."`
}

// agreed is the side that a job is done on: what is said of the operator counts, and what
// was said when a plan was saved.
func (a clusterSide) agreed(j *job) clusterSide {
	j.options.OperatorStopped = j.options.OperatorStopped || a.OperatorStopped
	a.OperatorStopped = j.options.OperatorStopped
	return a
}

// idle refuses flags that would do nothing: whoever types one means a cluster, and would
// write somewhere else.
func (a clusterAccess) idle(simulated bool, e vpn.Estate) error {
	words := a.words()
	switch {
	case len(words) == 0:
	case simulated:
		return fmt.Errorf("%s is for a cluster, and --sim has none", words[0])
	case e.Kubernetes.Target != vpn.TargetCluster:
		return fmt.Errorf("%s is for a cluster, but spec.kubernetes.target is %s", words[0], e.Kubernetes.Target)
	}
	return nil
}

// words are the flags as they are typed.
func (a clusterSide) words() []string {
	if a.OperatorStopped {
		return append(a.clusterAccess.words(), "--operator-stopped")
	}
	return a.clusterAccess.words()
}

// words are the flags as they are typed.
func (a clusterAccess) words() []string {
	var words []string
	if a.Kubeconfig != "" {
		words = append(words, "--kubeconfig", a.Kubeconfig)
	}
	if a.Context != "" {
		words = append(words, "--context", a.Context)
	}
	return words
}
