package main

import (
	"context"
	"os"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/cloud/kube"
	"github.com/vpnctl/vpnctl/cloud/openstack"
	"github.com/vpnctl/vpnctl/cloud/simulator"
	ipsecv1alpha1 "github.com/vpnctl/vpnctl/crds/ipsec/v1alpha1"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// customers says where the credential for the customer's project of a link is.
type customers func(ctx context.Context, l vpn.Link) (openstack.Options, error)

// customersOfClouds finds them in clouds.yaml, by the names that the Estate gives. Of the
// environment only what says where that file is counts, and the region: its credentials are
// the operator's.
func customersOfClouds(like openstack.Options) customers {
	like.Env = func(key string) string {
		switch key {
		case "HOME", "XDG_CONFIG_HOME", "OS_CLIENT_CONFIG_FILE", "OS_REGION_NAME":
			return os.Getenv(key)
		}
		return ""
	}
	return func(_ context.Context, l vpn.Link) (openstack.Options, error) {
		o := like
		if o.Cloud = l.Cloud; o.Cloud == "" {
			return o, &cloud.CredentialError{
				Reason:  ipsecv1alpha1.ReasonSecretNotFound,
				Message: "the Estate doesn't say by which cloud the customer's project is reached",
				Hint:    "name it in spec.openstack.links, for as long as anything of the link is there",
			}
		}
		return o, nil
	}
}

// customersOfSecrets finds them in the cluster, in the Secrets that the links name.
func customersOfSecrets(cluster *kube.Driver, like openstack.Options) customers {
	return func(ctx context.Context, l vpn.Link) (openstack.Options, error) {
		o := like
		c, err := cluster.Credential(ctx, l)
		o.Cloud, o.Env, o.Revision = "", c.Get, c.Revision
		return o, err
	}
}

// simulatedCustomer is the one whom a simulated cloud knows, for all links.
func simulatedCustomer(server *simulator.Server, like openstack.Options) customers {
	return func(context.Context, vpn.Link) (openstack.Options, error) {
		o := like
		access, err := server.Credentials(simulated, "customer")
		o.Env = func(key string) string { return access.Env[key] }
		return o, err
	}
}
