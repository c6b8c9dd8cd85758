package kube

import (
	"errors"
	"fmt"
	"os"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// Access says which cluster to use, as kubectl's flags do. The zero value is the
// current context of $KUBECONFIG or ~/.kube/config, and inside a pod its own cluster.
type Access struct {
	Kubeconfig string
	Context    string
	UserAgent  string
}

// Limits of the calls of one process. The API server's priority and fairness holds
// whoever asks too much back; these keep a fault here from being a flood.
const (
	callsPerSecond = 200
	burst          = 400
)

// Connect reaches a cluster, and says at which address.
func Connect(a Access, o Options) (*Driver, string, error) {
	config, err := a.config()
	if named := os.Getenv("KUBECONFIG"); clientcmd.IsEmptyConfig(err) && named != "" {
		return nil, "", fmt.Errorf("finding the cluster: no file that $KUBECONFIG names is there and has a cluster: %s", named)
	}
	if clientcmd.IsEmptyConfig(err) {
		return nil, "", errors.New("finding the cluster: neither $KUBECONFIG nor ~/.kube/config names one, and this is no pod")
	}
	if err != nil {
		return nil, "", fmt.Errorf("finding the cluster: %w", err)
	}
	config.QPS, config.Burst, config.UserAgent = callsPerSecond, burst, a.UserAgent
	d, err := Over(config, o)
	return d, config.Host, err
}

// Over returns a driver for the cluster that a configuration leads to.
func Over(config *rest.Config, o Options) (*Driver, error) {
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("connecting to the cluster: %w", err)
	}
	objects, err := dynamic.NewForConfigAndClient(config, client)
	if err != nil {
		return nil, fmt.Errorf("connecting to the cluster: %w", err)
	}
	metadata, err := metadata.NewForConfigAndClient(config, client)
	if err != nil {
		return nil, fmt.Errorf("connecting to the cluster: %w", err)
	}
	return newDriver(objects, metadata, o), nil
}

func (a Access) config() (*rest.Config, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = a.Kubeconfig
	return clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{CurrentContext: a.Context}).ClientConfig()
}
